/** Chart views for tests. */

import type { ChartView, LineView } from "../stream/views";

/** A line; thread 1 called "main" by default. */
export function line(changes: Partial<LineView> = {}): LineView {
  return {
    key: "1@0",
    tid: 1,
    name: "main",
    role: "main",
    colour: 0,
    kind: "thread",
    variant: 0,
    variant_name: "",
    selected: false,
    pinned: false,
    exited: false,
    last: Number.NaN,
    ...changes,
  };
}

/** A view of lines over the same times. */
export function chart(
  time: readonly number[],
  lines: readonly { readonly line?: LineView; readonly low: number[]; readonly high?: number[] }[],
  changes: Partial<ChartView> = {},
): ChartView {
  const low = Float64Array.from(lines.flatMap((one) => one.low));
  const ranged = lines.some((one) => one.high);
  return {
    chart: "cpu",
    unit: "cores",
    state: "ok",
    reason: "",
    t0_s: 0,
    t1_s: 10,
    attached_unix_ms: 1_700_000_000_000,
    columns: time.length,
    time_s: Float64Array.from(time),
    low,
    high: ranged ? Float64Array.from(lines.flatMap((one) => one.high ?? one.low)) : low,
    lines: lines.map((one) => one.line ?? line()),
    y_max: 10,
    others_above: false,
    peaks: null,
    stacked: false,
    opened: null,
    limits: [],
    step: false,
    smoothing_s: 0.5,
    others: 0,
    gaps: [],
    ...changes,
  };
}
