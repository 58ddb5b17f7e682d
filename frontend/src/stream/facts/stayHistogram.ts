/** Histograms of stays: how long waits and system calls took, in powers of two. */

/** Bucket b has stays below 2^(b + 10) ns that the one before does not; the last has all longer ones. */
export const BUCKETS = 24;

/** Upper end of a bucket, seconds; the last has none. */
export function upperOf(bucket: number, buckets = BUCKETS): number {
  return bucket < buckets - 1 ? 2 ** (bucket + 10) / 1e9 : Number.POSITIVE_INFINITY;
}

/** Lower end of a bucket, seconds. */
export function lowerOf(bucket: number, buckets = BUCKETS): number {
  return bucket === 0 ? 0 : upperOf(bucket - 1, buckets);
}

/**
 * A quantile of a histogram, seconds: within its bucket stays count as spread evenly over the
 * logarithm. Of the last bucket its lower end; NaN of an empty histogram.
 *
 * @param buckets How many there are.
 */
export function quantile(counts: ArrayLike<number>, part: number, buckets = BUCKETS): number {
  let total = 0;
  for (let b = 0; b < counts.length; b++) total += counts[b] ?? 0;
  if (!(total > 0)) return Number.NaN;
  const wanted = part * total;
  let below = 0;
  for (let b = 0; b < counts.length; b++) {
    const count = counts[b] ?? 0;
    if (count === 0 || below + count < wanted) {
      below += count;
      continue;
    }
    if (b >= buckets - 1) return lowerOf(b, buckets);
    const upper = upperOf(b, buckets);
    const lower = b === 0 ? upper / 2 : lowerOf(b, buckets);
    return lower * (upper / lower) ** ((wanted - below) / count);
  }
  return lowerOf(counts.length - 1, buckets);
}
