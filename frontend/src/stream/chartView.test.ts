import { describe, expect, it } from "vitest";
import { frame, type Row, TARGET } from "../testing/frames";
import { extremesOf } from "../testing/runs";
import { decodeExtremes } from "../wire/runFrames";
import { type Chosen, chartView, chooseThreads, type ViewInput } from "./chartView";
import { filterFrom } from "./rank";
import { RateExtremes } from "./rateExtremes";
import { TargetModel } from "./targetModel";
import { DEFAULT_REQUEST, type ViewRequest } from "./viewRequest";
import type { ChartView } from "./views";

const SECOND = 1e9;

/**
 * Three threads for two seconds at 2 samples per second: 1 uses a whole core, 2 half a core, 3
 * nothing. Thread 1 is older than the attach.
 */
function model(): TargetModel {
  const made = new TargetModel();
  for (let i = 0; i <= 4; i++) {
    const t_s = i / 2;
    const rows: Row[] = [
      { tid: 1, start_s: -9, name: "main", counters: { cpu_run_ns: (10 + t_s) * SECOND } },
      { tid: 2, start_s: 0, name: "worker-1", counters: { cpu_run_ns: (t_s / 2) * SECOND } },
      { tid: 3, start_s: 0, name: "worker-2", counters: { cpu_run_ns: 0 } },
    ];
    made.ingest(frame({ seq: i + 1, t_s, gomaxprocs: i < 2 ? 8 : 4 }, rows));
  }
  return made;
}

function input(changes: Partial<ViewRequest> = {}, made = model()): ViewInput {
  const request = { ...DEFAULT_REQUEST, ...changes };
  const span = { t0_s: 0, t1_s: 2 };
  const filter = filterFrom(request.filter);
  return { model: made, target: TARGET, request, filter, span, now_s: made.now_s };
}

function made(view: ViewInput, chart: "cpu" | "cpu_total" | "network" | "disk"): ChartView {
  const chosen: Chosen = chooseThreads(view, chart, new Set());
  return chartView(view, { chart, width_px: 100, in_view: true }, chosen);
}

function rows(view: ChartView): [string, number[]][] {
  return view.lines.map((line, i) => [
    line.name,
    [...view.low.subarray(i * view.columns, (i + 1) * view.columns)].map(
      (value) => Math.round(value * 1e6) / 1e6,
    ),
  ]);
}

describe("peaks of a run that is shown coarsely", () => {
  const bursts = [
    { tid: 0, start_s: 0, from_s: 0, to_s: 1, least: 1.25, greatest: 3 },
    { tid: 1, start_s: -9, from_s: 0, to_s: 1, least: 0.5, greatest: 1 },
    { tid: 1, start_s: -9, from_s: 1, to_s: 2, least: 0.75, greatest: 1.5 },
    { tid: 2, start_s: 0, from_s: 0, to_s: 1, least: 0, greatest: 0.875 },
  ];

  function view() {
    const coarse = model();
    coarse.extremes = new RateExtremes(decodeExtremes(extremesOf(bursts)));
    return made(input({}, coarse), "cpu");
  }

  function peaks(of: "low" | "high"): [string, number[]][] {
    const shown = view();
    const values = shown.peaks?.[of] ?? new Float64Array(0);
    return shown.lines.map((line, i) => [
      line.name,
      [...values.subarray(i * shown.columns, (i + 1) * shown.columns)],
    ]);
  }

  it("has the least and the greatest rate of each line since the column before", () => {
    expect(peaks("high").slice(0, 2)).toEqual([
      ["main", [Number.NaN, 1, 1, 1.5, 1.5]],
      ["worker-1", [Number.NaN, 0.875, 0.875, Number.NaN, Number.NaN]],
    ]);
    expect(peaks("low")[0]).toEqual(["main", [Number.NaN, 0.5, 0.5, 0.75, 0.75]]);
    expect(view().y_max).toBe(1.5);
    expect(view().peaks).toMatchObject({ over_s: 0.5, within_s: 1 });
  });

  it("bounds the others by what the process did beyond the lines", () => {
    const others = peaks("high")[2];
    // 3 cores in total, of which the lines had at most 1 + 0.875: a burst of threads without lines.
    expect(others).toEqual(["others", [Number.NaN, 1.125, 1.125, Number.NaN, Number.NaN]]);
    expect(peaks("low")[2]).toEqual(["others", [Number.NaN, 0, 0, Number.NaN, Number.NaN]]);
  });

  it("has none where each sample is shown, nor of what is cumulative", () => {
    expect(made(input(), "cpu").peaks).toBeNull();
    const coarse = model();
    coarse.extremes = new RateExtremes(decodeExtremes(extremesOf(bursts)));
    expect(made(input({}, coarse), "cpu_total").peaks).toBeNull();
  });
});

describe("chartView", () => {
  it("shows slopes in cores, those that do nothing among the others", () => {
    const view = made(input(), "cpu");
    expect(view.unit).toBe("cores");
    expect([...view.time_s]).toEqual([0, 0.5, 1, 1.5, 2]);
    expect(rows(view)).toEqual([
      ["main", [Number.NaN, 1, 1, 1, 1]],
      ["worker-1", [Number.NaN, 0.5, 0.5, 0.5, 0.5]],
      ["others", [Number.NaN, 0, 0, 0, 0]],
    ]);
    expect([view.others, view.y_max, view.others_above]).toEqual([1, 1, false]);
  });

  it("counts cumulative values from the attachment, or from the thread's start", () => {
    expect(rows(made(input(), "cpu_total"))[0]).toEqual(["main", [0, 0.5, 1, 1.5, 2]]);
    expect(rows(made(input({ baseline: "start" }), "cpu_total"))[0]).toEqual([
      "main",
      [10, 10.5, 11, 11.5, 12],
    ]);
  });

  it("puts all that has no line into one, and says when that is out of sight", () => {
    const view = made(input({ top_k: 1, selected: "3@0" }), "cpu_total");
    expect(rows(view)).toEqual([
      ["worker-2", [0, 0, 0, 0, 0]],
      ["main", [0, 0.5, 1, 1.5, 2]],
      ["others", [0, 0.25, 0.5, 0.75, 1]],
    ]);
    const pressed = made(input({ top_k: 1, filter: "worker-1" }), "cpu_total");
    expect(rows(pressed).map(([name]) => name)).toEqual(["worker-1", "others"]);
    expect([pressed.y_max, pressed.others_above]).toEqual([2, false]);
  });

  it("leaves others out of the value axis where they would press the threads flat", () => {
    const grown = model();
    const t_s = 2.5;
    grown.ingest(frame({ seq: 6, t_s }, [{ tid: 1, counters: { cpu_run_ns: 20 * SECOND } }]));
    const span = { t0_s: 0, t1_s: 2.5 };
    const view = made({ ...input({ filter: "worker" }, grown), span }, "cpu_total");
    expect([view.y_max, view.others_above]).toEqual([1, true]);
    expect(view.lines.at(-1)).toMatchObject({ kind: "others", last: 10 });
  });

  it("ends an exited thread's line at its end, and keeps its total out of the others", () => {
    const late = model();
    late.ingest(
      frame(
        {
          seq: 6,
          t_s: 2.5,
          events: [
            {
              type: "thread_exited",
              tid: 2,
              start_ns: 0,
              name: "worker-1",
              totals: { cpu_run_ns: 1.1 * SECOND },
              exact: true,
              seen_alive: true,
            },
          ],
          exited: { threads: 1, totals: { cpu_run_ns: 1.1 * SECOND } },
        },
        [],
      ),
    );
    late.ingest(
      frame({ seq: 7, t_s: 3, exited: { threads: 1, totals: { cpu_run_ns: 1.1 * SECOND } } }, []),
    );
    const view = made({ ...input({}, late), span: { t0_s: 0, t1_s: 3 } }, "cpu_total");
    expect(rows(view)).toEqual([
      ["main", [0, 0.5, 1, 1.5, 2, 2, 2]],
      ["worker-1", [0, 0.25, 0.5, 0.75, 1, 1.1, Number.NaN]],
      ["others", [0, 0, 0, 0, 0, 0, 0]],
    ]);
    expect(view.lines.map((line) => line.exited)).toEqual([false, true, false]);
  });

  it("measures a thread's last rate up to its exit, not to the sample that brought it", () => {
    const late = model();
    const totals = { cpu_run_ns: 1.2 * SECOND };
    const gone = { type: "thread_exited", tid: 2, start_ns: 0, name: "worker-1" } as const;
    const event = { ...gone, totals, exact: true, seen_alive: true, lifetime_ns: 2.4 * SECOND };
    const exited = { threads: 1, totals };
    late.ingest(frame({ seq: 6, t_s: 3, events: [event], exited }, []));
    const view = made({ ...input({}, late), span: { t0_s: 0, t1_s: 3 } }, "cpu");
    const worker = rows(view).find(([name]) => name === "worker-1");
    // 0.2 s of CPU in the 0.4 s from its last sample to its exit.
    expect(worker?.[1].at(-1)).toBe(0.5);
  });

  it("says why a chart is absent, in the collector's words", () => {
    const view = made(input(), "network");
    expect([view.state, view.reason]).toEqual(["absent", "needs eBPF"]);
    expect(made(input(), "disk").state).toBe("absent");
  });

  it("waits for a second sample", () => {
    const young = new TargetModel();
    young.ingest(
      frame({ seq: 1 }, [{ tid: 1, start_s: 0, name: "main", counters: { cpu_run_ns: 1 } }]),
    );
    expect(made(input({}, young), "cpu").state).toBe("waiting");
  });
});

describe("chooseThreads", () => {
  it("names threads of a program that does nothing", () => {
    const idle = new TargetModel();
    const rows = [1, 2].map((tid) => ({
      ...{ tid, start_s: 0, name: `sleeper-${tid}` },
      counters: { cpu_run_ns: 5e6 },
    }));
    idle.ingest(frame({ seq: 1, t_s: 0 }, rows));
    idle.ingest(frame({ seq: 2, t_s: 1 }, rows));
    const view = { ...input({ top_k: 10 }), model: idle, now_s: 1, span: { t0_s: 0, t1_s: 1 } };
    const { threads } = chooseThreads(view, "cpu", new Set());
    expect(threads.map(({ name }) => name)).toEqual(["sleeper-1", "sleeper-2"]);
  });

  it("takes the pinned first, then the top", () => {
    const view = input({ pinned: ["3@0"], top_k: 1 });
    const { threads, candidates } = chooseThreads(view, "cpu", new Set());
    expect(threads.map((thread) => thread.tid)).toEqual([3, 1]);
    expect(candidates).toBe(3);
  });
});
