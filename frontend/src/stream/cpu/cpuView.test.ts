import { describe, expect, it } from "vitest";
import { frame, type Row, TARGET } from "../../testing/frames";
import type { ViewInput } from "../chartView";
import { filterFrom } from "../rank";
import { TargetModel } from "../targetModel";
import { DEFAULT_REQUEST, type ViewRequest } from "../viewRequest";
import type { ChartView } from "../views";
import { CpuViewMaker } from "./cpuView";

const ASKED = { chart: "cpu", width_px: 400, in_view: true } as const;

/** A thread with constant CPU use, in cores, from the first sample on. */
interface Work {
  readonly name: string;
  readonly cores: number;
}

/** Six seconds of a program, four samples a second. */
function modelOf(work: readonly Work[], gauges: { readonly cpu_limit?: number } = {}): TargetModel {
  const made = new TargetModel();
  for (let i = 0; i <= 24; i++) {
    const t_s = i / 4;
    const rows = work.map(({ name, cores }, place): Row => {
      const counters = { cpu_run_ns: Math.round(cores * t_s * 1e9) };
      return { tid: place + 1, start_s: -1, name, counters };
    });
    const cpu_ns = rows.reduce((sum, row) => sum + (row.counters.cpu_run_ns ?? 0), 0);
    made.ingest(frame({ seq: i + 1, t_s, gomaxprocs: 4, process: { cpu_ns, ...gauges } }, rows));
  }
  return made;
}

function inputOf(model: TargetModel, changes: Partial<ViewRequest> = {}): ViewInput {
  const request = { ...DEFAULT_REQUEST, ...changes };
  const span = { t0_s: 0, t1_s: 6 };
  const filter = filterFrom(request.filter);
  return { model, target: TARGET, request, filter, span, now_s: model.now_s };
}

/** A view, recomputed until stable: bands are computed incrementally. */
function made(input: ViewInput): ChartView {
  let now_ms = 0;
  const maker = new CpuViewMaker(() => {
    now_ms += 1;
    return now_ms;
  });
  let view = maker.make(input, ASKED);
  for (let round = 0; round < 100; round++) {
    now_ms += 1000;
    view = maker.make(input, ASKED);
  }
  return view;
}

/** Height of each band at the last column, in cores, to three decimals. */
function heights(view: ChartView): Record<string, number> {
  return Object.fromEntries(
    view.lines.map(({ name }, line) => {
      const at = (line + 1) * view.columns - 1;
      const height = (view.high[at] ?? Number.NaN) - (view.low[at] ?? Number.NaN);
      return [name, Math.round(1000 * height) / 1000];
    }),
  );
}

const times = (count: number, name: (n: number) => string, cores: number): Work[] =>
  Array.from({ length: count }, (_, n) => ({ name: name(n), cores }));

describe("CPU of a program of several roles", () => {
  const work = [{ name: "main", cores: 0.5 }, ...times(4, (n) => `worker-${n}`, 0.25)];

  it("is stacked by role, the largest at the foot, and adds up to the process", () => {
    const view = made(inputOf(modelOf(work)));
    expect(view.stacked).toBe(true);
    expect(view.lines.map(({ key }) => key)).toEqual(["role:worker-#", "role:main", null]);
    expect(heights(view)).toEqual({ "worker-#": 1, main: 0.5, others: 0 });
    expect(view.low[view.columns * 2 - 1]).toBe(view.high[view.columns - 1]);
    expect(view.lines[0]?.last).toBeCloseTo(1);
  });

  it("has what no band is of on top", () => {
    const view = made(inputOf(modelOf(work), { top_k: 1 }));
    expect(heights(view)).toEqual({ "worker-#": 1, others: 0.5 });
    expect(view.others).toBe(1);
  });

  it("shows GOMAXPROCS and the quota as limits, and leaves room for those that are near", () => {
    const view = made(inputOf(modelOf(work, { cpu_limit: 2 })));
    expect(view.limits).toEqual([
      { name: "quota", value: 2 },
      { name: "GOMAXPROCS", value: 4 },
    ]);
    expect(view.y_max).toBeGreaterThan(2);
    expect(view.y_max).toBeLessThan(4);
  });

  it.each(["role:worker-#", "thread"])("opens the role that is selected: %s", (selected) => {
    const model = modelOf(work);
    const thread = [...model.threads.all()].find(({ name }) => name === "worker-2");
    const key = selected === "thread" ? (thread?.key ?? "") : selected;
    const view = made(inputOf(model, { selected: key }));
    expect(view.stacked).toBe(false);
    expect(view.opened).toEqual({ key: "role:worker-#", name: "worker-#", threads: 4 });
    expect(view.lines.map(({ name }) => name).sort()).toEqual(
      times(4, (n) => `worker-${n}`, 0).map(({ name }) => name),
    );
    expect(new Set(view.lines.map(({ colour }) => colour)).size).toBe(4);
    expect(view.lines.some((line) => line.selected)).toBe(selected === "thread");
    expect(view.y_max).toBeCloseTo(0.25);
  });
});

it("shows a program of one role by thread, in hues that differ", () => {
  const model = modelOf(times(10, () => "server", 0.1));
  const view = made(inputOf(model));
  expect(view.stacked).toBe(true);
  const threads = view.lines.filter(({ kind }) => kind === "thread");
  expect(threads).toHaveLength(6);
  expect(new Set(threads.map(({ colour }) => colour)).size).toBe(6);
  const { others } = heights(view);
  expect(others).toBeCloseTo(0.4);
  expect(view.others).toBe(4);
});

it("shows a Go program by thread, too: what the runtime keeps for itself is no role of it", () => {
  const view = made(
    inputOf(modelOf([...times(5, () => "server", 0.1), { name: "sysmon", cores: 0.01 }])),
  );
  const threads = view.lines.filter(({ kind }) => kind === "thread");
  expect(threads.map(({ name }) => name)).toEqual([...Array(5).fill("server"), "sysmon"]);
  expect(new Set(threads.map(({ colour }) => colour)).size).toBe(6);
});

describe("many threads of one role", () => {
  const work = [...times(40, (n) => `io-${n}`, 0.02), { name: "io-77", cores: 0.9 }];
  const opened = { selected: "role:io-#" };

  it("are a band, with those named that are far from the others", () => {
    const view = made(inputOf(modelOf(work), opened));
    expect(view.opened?.threads).toBe(41);
    expect(view.lines.map(({ name, kind }) => [name, kind])).toEqual([
      ["io-77", "thread"],
      ["median", "spread"],
      ["middle half", "spread"],
      ["all", "spread"],
    ]);
    const [outlier, median, , all] = view.lines;
    expect(outlier?.last).toBeCloseTo(0.9);
    expect(median?.last).toBeCloseTo(0.02);
    expect([all?.last_low, all?.last]).toEqual([expect.closeTo(0.02), expect.closeTo(0.9)]);
    expect(view.others).toBe(40);
  });

  it("have nobody named where all are alike, but who is selected or pinned", () => {
    const model = modelOf(times(40, (n) => `io-${n}`, 0.02));
    const key = [...model.threads.all()].find(({ name }) => name === "io-7")?.key ?? "";
    const view = made(inputOf(model, { ...opened, pinned: [key] }));
    expect(view.lines.map(({ name }) => name)).toEqual(["io-7", "median", "middle half", "all"]);
  });
});

it("is absent where the kernel does not count it", () => {
  const model = new TargetModel();
  expect(made(inputOf(model)).state).toBe("absent");
});
