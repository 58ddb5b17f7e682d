import { describe, expect, it } from "vitest";
import { HEALTH, MACHINE, type Row, TARGET } from "../testing/frames";
import type { Frame } from "../wire/frame";
import type { FrameHeader, Target, TargetEvent } from "../wire/generated/models";
import { PARTS } from "./breakdown";
import { filterFrom } from "./rank";
import { TargetModel } from "./targetModel";
import { edgesOf } from "./timesLedger";
import { timesView } from "./timesView";
import { DEFAULT_REQUEST, type ViewRequest } from "./viewRequest";
import type { ChartView, TimesView } from "./views";
import { spanOf } from "./window";

const FIELDS = ["cpu_run_ns", "cpu_delay_ns", "blkio_delay_ns", "swapin_delay_ns"] as const;
const MORE = ["thrashing_delay_ns", "reclaim_delay_ns", "compact_delay_ns", "wpcopy_delay_ns"];
const ALL = [...FIELDS, ...MORE, "irq_delay_ns"];

/** Counters of a thread in seconds, by field; omitted ones are absent. */
type Seconds = Readonly<Record<string, number>>;

interface Instant {
  readonly t_s: number;
  readonly threads: readonly (Omit<Row, "counters"> & { readonly times: Seconds })[];
  readonly events?: readonly TargetEvent[];
  readonly exited?: Seconds;
  readonly accounting?: boolean | null;
}

/** A model filled with these instants, all key frames. */
function modelOf(instants: readonly Instant[], fields: readonly string[] = ALL): TargetModel {
  const model = new TargetModel();
  for (const [
    i,
    { t_s, threads, events = [], exited = {}, accounting = true },
  ] of instants.entries()) {
    const header: FrameHeader = {
      ...{ type: "frame", target: TARGET.id, seq: i + 1, first_seq: i + 1, kind: "key" },
      ...{ baseline: i === 0, rows: threads.length, threads_born: 0 },
      ...{ time_ns: Math.round(1e9 * t_s), unix_us: 1, live_threads: threads.length },
      events: [...events],
      process: { gomaxprocs: null, rss_bytes: null, delay_accounting: accounting },
      machine: MACHINE,
      health: HEALTH,
      exited: {
        ...{ threads: Object.keys(exited).length > 0 ? 1 : 0, inexact: 0 },
        totals: Object.fromEntries(Object.entries(exited).map(([name, s]) => [name, 1e9 * s])),
      },
    };
    const frame: Frame = {
      header,
      tid: Uint32Array.from(threads, ({ tid }) => tid),
      fields,
      columns: fields.map((field) =>
        Float64Array.from(threads, ({ times }) => 1e9 * (times[field] ?? Number.NaN)),
      ),
      start_ns: Float64Array.from(threads, ({ start_s = 0 }) => 1e9 * start_s),
      pid: null,
      names: threads.map(({ name = "" }) => name),
      tables: {},
    };
    model.ingest(frame);
  }
  return model;
}

function viewOf(
  model: TargetModel,
  changes: Partial<ViewRequest> = {},
  target: Target = TARGET,
): ChartView {
  const request = { ...DEFAULT_REQUEST, ...changes };
  const now_s = model.now_s;
  const span = spanOf(request.window, now_s);
  const filter = filterFrom(request.filter);
  return timesView(
    { model, target, request, filter, span, now_s },
    { chart: "times", width_px: 600, in_view: true },
  );
}

function timesOf(view: ChartView): TimesView {
  if (!view.times) throw new Error(`no times: ${view.state} ${view.reason}`);
  return view.times;
}

/** Ten samples per second of a thread's counters. */
function sampled(
  seconds: number,
  threads: Readonly<Record<string, (t_s: number) => Seconds>>,
): Instant[] {
  return Array.from({ length: Math.round(10 * seconds) + 1 }, (_, i) => ({
    t_s: i / 10,
    threads: Object.entries(threads).map(([name, at], place) => ({
      ...{ tid: 10 + place, name, start_s: -5 },
      times: at(i / 10),
    })),
  }));
}

const NONE = Object.fromEntries(ALL.map((field) => [field, 0]));
const burns = (t: number): Seconds => ({
  ...NONE,
  cpu_run_ns: 3 + 0.5 * t,
  cpu_delay_ns: 0.25 * t,
});
const reads = (t: number): Seconds => ({
  ...NONE,
  cpu_run_ns: 0.1 * t,
  blkio_delay_ns: 7 + 0.6 * t,
});
const old = (t: number): Seconds => ({ cpu_run_ns: 0.2 * t, cpu_delay_ns: 0 });

describe("timesView", () => {
  it("adds up to the wall time, for each role and for all", () => {
    const times = timesOf(
      viewOf(modelOf(sampled(20, { "burn-1": burns, "burn-2": burns, reader: reads }))),
    );
    expect(times.whole.wall_s).toBeCloseTo(60, 6);
    expect(times.whole.parts).toMatchObject({
      cpu: expect.closeTo(22, 6),
      queue: expect.closeTo(10, 6),
      blkio: expect.closeTo(12, 6),
      rest: expect.closeTo(16, 6),
      unsplit: 0,
    });
    expect(times.roles.map(({ name, threads }) => [name, threads])).toEqual([
      ["burn-#", 2],
      ["reader", 1],
    ]);
    for (const row of [times.whole, ...times.roles]) {
      const sum = PARTS.reduce((all, part) => all + (row.parts[part] || 0), 0);
      expect(sum).toBeCloseTo(row.wall_s, 6);
    }
  });

  it("stacks the bands of each column up to the whole", () => {
    const view = viewOf(modelOf(sampled(20, { burner: burns, reader: reads, old })));
    const { columns, lines, low, high } = view;
    expect(columns).toBe(41); // forty of half a second, and the end of the last
    for (let c = 0; c < columns; c++) {
      let level = 0;
      for (let index = 0; index < lines.length; index++) {
        expect(low[index * columns + c]).toBeCloseTo(level, 9);
        level = high[index * columns + c] ?? Number.NaN;
      }
      expect(level).toBeCloseTo(1, 9);
    }
  });

  it("does not tell the rest of a thread without delays apart, and says so", () => {
    const times = timesOf(viewOf(modelOf(sampled(10, { burner: burns, old }))));
    expect(times.whole.parts.unsplit).toBeCloseTo(8, 6);
    expect(times.whole.parts.rest).toBeCloseTo(2.5, 6);
    expect(times.absent.find(({ part }) => part === "blkio")?.reason).toMatch(/^1 of 2 threads/);
    const bare = times.roles.find(({ name }) => name === "old");
    expect(bare?.parts.blkio).toBeNaN();
    expect(bare?.parts.rest).toBe(0);
  });

  it("gives the collector's reason where the target has no delays", () => {
    const fields = ["cpu_run_ns", "cpu_delay_ns"];
    const target = { ...TARGET, absent: [{ field: "blkio_delay_ns", reason: "it is off" }] };
    const view = viewOf(modelOf(sampled(5, { old }), fields), {}, target);
    expect(view.lines.map(({ part }) => part)).toEqual(["cpu", "queue", "unsplit"]);
    expect(timesOf(view).absent).toContainEqual({ part: "blkio", reason: "it is off" });
  });

  it("does not believe delays of a time in which accounting was off", () => {
    const instants = sampled(10, { reader: reads }).map((one) => ({
      ...one,
      accounting: one.t_s < 5,
    }));
    const { parts, wall_s } = timesOf(viewOf(modelOf(instants))).whole;
    expect(wall_s).toBeCloseTo(10, 6);
    expect(parts.unsplit).toBeGreaterThan(4);
    expect(parts.blkio).toBeLessThan(3.1);
  });

  it("calls interrupts absent while the kernel has counted none", () => {
    const quiet = timesOf(viewOf(modelOf(sampled(5, { burner: burns }))));
    expect(quiet.whole.parts.irq).toBeNaN();
    expect(quiet.absent.map(({ part }) => part)).toEqual(["irq"]);
    const busy = (t: number): Seconds => ({ ...burns(t), irq_delay_ns: 0.1 * t });
    const loud = timesOf(viewOf(modelOf(sampled(5, { burner: busy }))));
    expect(loud.whole.parts.irq).toBeCloseTo(0.5, 6);
    expect(loud.absent).toEqual([]);
  });

  it("is of a selected thread or role, and keeps the bars of all", () => {
    const model = modelOf(sampled(10, { "burn-1": burns, "burn-2": burns, reader: reads }));
    const thread = timesOf(viewOf(model, { selected: `12@${-5e9}` }));
    expect(thread).toMatchObject({ scope: "thread", name: "reader (12)" });
    expect(thread.whole.parts.blkio / thread.whole.wall_s).toBeCloseTo(0.6, 6);
    const role = timesOf(viewOf(model, { selected: "role:burn-#" }));
    expect(role).toMatchObject({ scope: "role", name: "burn-#" });
    expect(role.whole.wall_s).toBeCloseTo(20, 6);
    for (const { roles } of [thread, role]) expect(roles).toHaveLength(2);
    expect(timesOf(viewOf(model, { filter: "reader" })).whole.wall_s).toBeCloseTo(10, 6);
  });

  it("counts a thread that lived and died between two samples for the time it lived", () => {
    const instants = sampled(4, { burner: burns });
    const died = instants[21];
    if (!died) throw new Error("no such instant");
    const totals = { cpu_run_ns: 4e6, cpu_delay_ns: 1e6, blkio_delay_ns: 2e6 };
    instants[21] = {
      ...died,
      events: [
        {
          ...{ type: "thread_exited", tid: 99, start_ns: 2.03e9, name: "brief", totals },
          ...{ exact: true, seen_alive: false, lifetime_ns: 10e6 },
        },
      ],
    };
    const brief = timesOf(viewOf(modelOf(instants))).roles.find(({ name }) => name === "brief");
    expect(brief?.wall_s).toBeCloseTo(0.01, 9);
    expect(brief?.parts).toMatchObject({
      cpu: expect.closeTo(0.004, 9),
      queue: expect.closeTo(0.001, 9),
      blkio: expect.closeTo(0.002, 9),
      rest: expect.closeTo(0.003, 9),
    });
  });

  it("moves a long wait to when it was", () => {
    const waits = (t: number): Seconds => ({ ...NONE, blkio_delay_ns: t < 4 ? 0 : 3 });
    const view = viewOf(modelOf(sampled(6, { reader: waits })));
    const index = view.lines.findIndex(({ part }) => part === "blkio");
    const shares = Array.from({ length: view.columns - 1 }, (_, c) =>
      Math.round(
        (view.high[index * view.columns + c] ?? 0) - (view.low[index * view.columns + c] ?? 0),
      ),
    );
    expect(shares).toEqual([0, 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
  });

  it("waits for data, and says what a target without CPU time lacks", () => {
    expect(viewOf(modelOf(sampled(0, { burner: burns }))).state).toBe("waiting");
    const lacking = viewOf(modelOf(sampled(2, { burner: burns }), ["major_faults"]));
    expect(lacking).toMatchObject({ state: "absent" });
  });
});

describe("edgesOf", () => {
  const at = (...time: number[]) => ({ n: time.length, time_s: Float64Array.from(time) });

  it("begins a column with the first sample of each stretch, anchored to absolute time", () => {
    expect(edgesOf(at(0.9, 1.02, 1.3, 1.51, 2.4, 2.6), 0.5)).toEqual([0, 1, 3, 4, 5]);
  });

  it("ends with a short column only if it says something", () => {
    expect(edgesOf(at(0, 0.5, 0.6), 0.5)).toEqual([0, 1]);
    expect(edgesOf(at(0, 0.5, 0.8), 0.5)).toEqual([0, 1, 2]);
  });

  it("has none of no samples", () => {
    expect(edgesOf(at(), 0.5)).toEqual([]);
  });
});
