/** Path of a sparkline: the foot is 0, the top its largest value; breaks where there is no value. */
export function sparkPath(values: Float32Array, width: number, height: number): string {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  const across = values.length > 1 ? width / (values.length - 1) : 0;
  const room = height - 2;
  const steps: string[] = [];
  let open = false;
  for (const [i, value] of values.entries()) {
    if (Number.isNaN(value)) {
      open = false;
      continue;
    }
    const y = 1 + room * (1 - (most > 0 ? Math.max(0, value) / most : 0));
    steps.push(`${open ? "L" : "M"}${(i * across).toFixed(1)},${y.toFixed(1)}`);
    open = true;
  }
  return steps.join("");
}
