/** Histograms of stays: how long waits and system calls took, in powers of two. */

/**
 * Number of buckets. Bucket b has stays below 2^(b + 10) ns and above the previous bucket; the last
 * has all longer ones.
 */
export const BUCKETS = 24;

/** Upper end of a bucket, in seconds; infinite for the last. */
export function upperOf(bucket: number, buckets = BUCKETS): number {
  return bucket < buckets - 1 ? 2 ** (bucket + 10) / 1e9 : Number.POSITIVE_INFINITY;
}

/** Lower end of a bucket, in seconds. */
export function lowerOf(bucket: number, buckets = BUCKETS): number {
  return bucket === 0 ? 0 : upperOf(bucket - 1, buckets);
}

/**
 * A quantile of a histogram, in seconds. Within a bucket, stays count as evenly spread over the
 * logarithm. The last bucket's lower end; NaN if empty.
 * @param buckets Number of buckets.
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
