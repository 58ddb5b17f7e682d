/** Value at the top of a sparkline: its maximum; 0 if no value is positive. */
export function sparkTop(values: Float32Array): number {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}

/** Height of a value, in CSS pixels from the top: the bottom is 0. */
function heightOf(value: number, top: number, height: number): number {
  return 1 + (height - 2) * (1 - (top > 0 ? Math.max(0, value) / top : 0));
}

/** A band between two values, on the scale of a sparkline; null if above the sparkline. */
export function sparkBand(
  [from, to]: readonly [number, number],
  top: number,
  height: number,
): { readonly y: number; readonly height: number } | null {
  if (from > top || top === 0) return null;
  const y = heightOf(Math.min(to, top), top, height);
  return { y, height: Math.max(1, heightOf(from, top, height) - y) };
}

/** Path of a sparkline from 0 to its maximum; gaps at missing values. */
export function sparkPath(values: Float32Array, width: number, height: number): string {
  const top = sparkTop(values);
  const across = values.length > 1 ? width / (values.length - 1) : 0;
  const steps: string[] = [];
  let open = false;
  for (const [i, value] of values.entries()) {
    if (Number.isNaN(value)) {
      open = false;
      continue;
    }
    const y = heightOf(value, top, height);
    steps.push(`${open ? "L" : "M"}${(i * across).toFixed(1)},${y.toFixed(1)}`);
    open = true;
  }
  return steps.join("");
}
