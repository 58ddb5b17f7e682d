/** Paths of an SVG through values over time. */

export interface Plot {
  readonly t0_s: number;
  readonly t1_s: number;
  /** Seconds since attach, ascending. */
  readonly time_s: Float64Array;
  readonly width: number;
  readonly height: number;
  /** Value at the upper edge. */
  readonly most: number;
}

/** Straight segments between values, with gaps at missing ones. */
export function linePath(plot: Plot, values: Float64Array): string {
  return path(plot, values, (x, y) => `L${x} ${y}`);
}

/** Steps: each value holds until the next one. */
export function stepPath(plot: Plot, values: Float64Array): string {
  const last = values.findLast((value) => !Number.isNaN(value));
  const drawn = path(plot, values, (x, y) => `H${x}V${y}`);
  return drawn === "" || last === undefined ? drawn : `${drawn}H${plot.width}`;
}

function path(plot: Plot, values: Float64Array, to: (x: number, y: number) => string): string {
  const { t0_s, t1_s, time_s, width, height, most } = plot;
  let drawn = "";
  let pen = false;
  for (const [i, value] of values.entries()) {
    if (Number.isNaN(value)) {
      pen = false;
      continue;
    }
    const t_s = time_s[i] ?? Number.NaN;
    const x = round((width * (Math.max(t_s, t0_s) - t0_s)) / (t1_s - t0_s));
    const y = round(height * (1 - value / most));
    drawn += pen ? to(x, y) : `M${x} ${y}`;
    pen = true;
  }
  return drawn;
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}
