/** Tiles: the process as a whole, including ended threads, so that totals only grow. */

import { assess, REFERENCE_S } from "./assessment";
import type { RingField } from "./chartSpecs";
import type { ViewInput } from "./chartView";
import { type CurrentRates, rateAt } from "./currentRates";
import { shownRate } from "./format";
import { powerTile } from "./power";
import { smoothingFor } from "./rate";
import { readProcess, ringOf } from "./series";
import { sparkline } from "./spark";
import { signalName, signalUnit } from "./steerView";
import type { Assessment, ShownUnit, TileId, TileView } from "./views";

const POINTS = 60;

interface TileSpec {
  readonly id: TileId;
  readonly label: string;
  readonly fields: readonly RingField[];
  /** Names of a pair's values; empty for one field. */
  readonly names: readonly string[];
}

const TILES: readonly TileSpec[] = [
  { id: "cpu", label: "CPU", fields: ["cpu_run_ns"], names: [] },
  { id: "wait", label: "Run-queue delay", fields: ["cpu_delay_ns"], names: [] },
  { id: "blkio", label: "Block I/O delay", fields: ["blkio_delay_ns"], names: [] },
  {
    id: "network",
    label: "Network",
    fields: ["net_read_bytes", "net_write_bytes"],
    names: ["in", "out"],
  },
  {
    id: "disk",
    label: "Disk",
    fields: ["disk_read_bytes", "disk_write_bytes"],
    names: ["read", "written"],
  },
  {
    id: "switches",
    label: "Context switches",
    fields: ["voluntary_switches", "involuntary_switches"],
    names: ["voluntary", "involuntary"],
  },
];

/** All tiles, in display order. */
export function tileViews(input: ViewInput, rates: CurrentRates): TileView[] {
  return [
    ...opsTile(input),
    ...TILES.map((spec) => counterTile(input, rates, spec)),
    ...threadTiles(input),
    powerTile(input, rates),
  ];
}

function counterTile(input: ViewInput, rates: CurrentRates, spec: TileSpec): TileView {
  const { model, target } = input;
  const [first, second] = spec.fields;
  const unit = first === undefined ? "count" : unitOfAll(shownRate(first, 0).unit);
  const tile: TileView = {
    id: spec.id,
    label: spec.label,
    unit,
    state: "absent",
    reason: "",
    value: Number.NaN,
    second: null,
    first_label: spec.names[0] ?? "",
    spark: new Float32Array(0),
    assessment: null,
  };
  const absent = spec.fields.find((field) =>
    Number.isNaN(total(rates, model.counters.columnOf(field))),
  );
  if (absent !== undefined) {
    const reason = target?.absent.find((entry) => entry.field === absent)?.reason;
    return { ...tile, reason: reason ?? `no thread of this target has ${absent}` };
  }
  const values = spec.fields.map(
    (field) => shownRate(field, rateAt(rates, model.counters.columnOf(field))).value,
  );
  const [value = Number.NaN, other] = values;
  return {
    ...tile,
    state: Number.isNaN(value) ? "waiting" : "ok",
    reason: Number.isNaN(value) ? "not enough data yet" : "",
    value,
    second: second && other !== undefined ? { label: spec.names[1] ?? "", value: other } : null,
    spark: spark(input, spec.fields),
    assessment: assessIn(input, unit, (t0_s, t1_s, points) =>
      slopes(input, spec.fields, t0_s, t1_s, points),
    ),
  };
}

/** Unit of a sum over threads: shares of their times add up to threads. */
function unitOfAll(unit: ShownUnit): ShownUnit {
  return unit === "share" ? "threads" : unit;
}

/** Sampler of values at the ends of equal parts of a span. */
type Sampler = (t0_s: number, t1_s: number, points: number) => Float32Array;

/** Longest span whose mean is assessed, in seconds. */
const LONGEST_S = 3600;

/** Assess the last seconds, or a chosen span as a whole. */
function assessIn(
  { model, span, now_s, request }: ViewInput,
  unit: ShownUnit,
  sample: Sampler,
): Assessment | null {
  const end_s = Math.min(span.t1_s, now_s);
  const chosen = request.window.kind === "fixed" ? Math.round(end_s - span.t0_s) : undefined;
  const seconds = REFERENCE_S + (chosen ?? 0);
  // A run shown as a whole has no earlier reference.
  if (chosen !== undefined && (chosen > LONGEST_S || span.t0_s <= model.since_s)) return null;
  if (chosen !== undefined && chosen < 1) return null;
  return assess(sample(end_s - seconds, end_s, seconds), unit, chosen);
}

/** Total of the process: slot 0 is first in `latest`. */
function total(rates: CurrentRates, column: number): number {
  return column < 0 ? Number.NaN : (rates.latest[column] ?? Number.NaN);
}

/** Sum of the fields' rates over the window, in the shown unit. */
function spark(input: ViewInput, fields: readonly RingField[]): Float32Array {
  const { span, now_s } = input;
  return slopes(input, fields, span.t0_s, Math.min(span.t1_s, now_s), POINTS);
}

/** `spark` over a span. */
function slopes(
  { model }: ViewInput,
  fields: readonly RingField[],
  t0_s: number,
  t1_s: number,
  points: number,
): Float32Array {
  const smoothing_s = smoothingFor(model.arrivals.hz || 10);
  const stretches = model.history.between(t0_s - 2 * smoothing_s, t1_s);
  const values = new Float64Array(stretches.n);
  let sum: Float32Array | null = null;
  for (const field of fields) {
    readProcess(model, stretches, ringOf(field), values);
    const line = sparkline(stretches, values, t0_s, t1_s, points, smoothing_s);
    const scale = shownRate(field, 1).value;
    const before = sum;
    sum = line.map((value, i) => value * scale + (before?.[i] ?? 0));
  }
  return sum ?? new Float32Array(0);
}

function threadTiles(input: ViewInput): TileView[] {
  const { model, span, now_s, request } = input;
  const end_s = Math.min(span.t1_s, now_s);
  // At the first sample it is everything counted since attach.
  const chosen = request.window.kind === "fixed" && span.t0_s > model.since_s;
  const { born, exited } = chosen ? turnover(model, span.t0_s, end_s) : model;
  const plain = { unit: "count", state: "ok", reason: "", spark: new Float32Array(0) } as const;
  const counts: Sampler = (...parts) => model.liveCounts.sampled(...parts);
  return [
    {
      ...plain,
      id: "threads",
      label: "Threads",
      value: chosen ? (counts(end_s - 1, end_s, 1)[0] ?? Number.NaN) : model.live,
      second: null,
      first_label: "",
      spark: counts(span.t0_s, end_s, POINTS),
      assessment: assessIn(input, "count", counts),
    },
    {
      ...plain,
      id: "turnover",
      label: "Threads born, exited",
      value: born,
      second: { label: "exited", value: exited },
      first_label: "born",
      assessment: null,
    },
  ];
}

/** Number of threads first seen, and ended, within a span. */
function turnover(
  { threads }: ViewInput["model"],
  t0_s: number,
  t1_s: number,
): { readonly born: number; readonly exited: number } {
  const within = (t_s: number | null): boolean => t_s !== null && t_s > t0_s && t_s <= t1_s;
  let born = 0;
  let exited = 0;
  for (const { seen_s, end_s } of threads.all()) {
    if (within(seen_s)) born++;
    if (within(end_s)) exited++;
  }
  return { born, exited };
}

const OPS_POINTS = 60;

/** Operations per second of the last interval; none without steering. */
export function opsTile({ model, span, now_s }: ViewInput): readonly TileView[] {
  const band = model.steer.bandAt(now_s);
  if (band === null) return [];
  const end_s = Math.min(span.t1_s, now_s);
  const decisions = model.steer.between(band.from_s, now_s);
  const last = decisions.at(-1);
  const tile: TileView = {
    id: "ops",
    label: band.proxy ? "Proxy signal" : "Ops",
    unit: signalUnit(band.signal),
    state: last === undefined ? "waiting" : "ok",
    reason: last === undefined ? "waiting for the first interval" : "",
    value: last?.rate ?? Number.NaN,
    second: null,
    first_label: "",
    spark: model.steer.rates.sampled(span.t0_s, end_s, OPS_POINTS),
    assessment: null,
  };
  const name = signalName(band.signal);
  const note = band.proxy
    ? `Signal: ${name}, a proxy for operations; lower confidence.`
    : `Signal: ${name}, over the last interval.`;
  return [{ ...tile, note }];
}
