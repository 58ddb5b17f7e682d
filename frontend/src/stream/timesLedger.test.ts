import { describe, expect, it } from "vitest";
import { cycle, LEDGER_TARGET, LedgerFrames, type LedgerThread } from "../testing/ledgers";
import { isIdle, TIME_PARTS } from "./breakdown";
import { filterFrom } from "./rank";
import { TargetModel } from "./targetModel";
import { timesView } from "./timesView";
import { DEFAULT_REQUEST, type ViewRequest } from "./viewRequest";
import type { ChartView, TimesRow } from "./views";
import { spanOf } from "./window";

/** A model filled with frames of these threads, ten per second. */
function modelOf(threads: readonly LedgerThread[], seconds: number): TargetModel {
  const model = new TargetModel();
  const frames = new LedgerFrames(threads);
  for (let i = 0; i <= Math.round(10 * seconds); i++) model.ingest(frames.at(i / 10));
  return model;
}

function viewOf(model: TargetModel, changes: Partial<ViewRequest> = {}): ChartView {
  const request = { ...DEFAULT_REQUEST, ...changes };
  const { now_s } = model;
  const span = spanOf(request.window, now_s);
  const filter = filterFrom(request.filter);
  return timesView(
    { model, target: LEDGER_TARGET, request, filter, span, now_s },
    { chart: "times", width_px: 600, in_view: true },
  );
}

function timesOf(view: ChartView) {
  if (!view.times) throw new Error(`no times: ${view.state} ${view.reason}`);
  return view.times;
}

function sumOf({ parts }: TimesRow): number {
  return TIME_PARTS.reduce((sum, part) => sum + (parts[part] || 0), 0);
}

const WORKERS = [1, 2].map((n) =>
  cycle(
    { tid: n, name: `worker-${n}`, start_s: -5 },
    [
      ["on_cpu", 0.25],
      ["futex", 0.35],
      ["preempted", 0.07],
      ["socket_receive", 0.33],
    ],
    30,
  ),
);
const SLEEPER: LedgerThread = { tid: 9, name: "timer", start_s: -5, stays: [[-5, "sleep"]] };

describe("where the time goes, by ledgers", () => {
  it("gives each state its time, which adds up to the wall time, for each role and for all", () => {
    const { whole, roles, ledger } = timesOf(viewOf(modelOf([...WORKERS, SLEEPER], 20)));
    expect(ledger).toBe(true);
    expect(whole.wall_s).toBeCloseTo(60, 9);
    expect(whole.parts.on_cpu).toBeCloseTo(10, 9);
    expect(whole.parts.futex).toBeCloseTo(14, 9);
    expect(whole.parts.preempted).toBeCloseTo(2.8, 9);
    expect(whole.parts.socket_receive).toBeCloseTo(13.2, 9);
    expect(whole.parts.sleep).toBeCloseTo(20, 9);
    for (const row of [whole, ...roles]) expect(sumOf(row)).toBeCloseTo(row.wall_s, 9);
    expect(roles.map(({ name, wall_s }) => [name, Math.round(wall_s)])).toEqual([
      ["worker-#", 40],
      ["timer", 20],
    ]);
  });

  it("counts a stay under way though the sleeping thread sends nothing", () => {
    const model = modelOf([SLEEPER], 20);
    const { whole } = timesOf(viewOf(model, { window: { kind: "fixed", t0_s: 12, t1_s: 18 } }));
    expect(whole.parts.sleep).toBeCloseTo(6, 9);
  });

  it("folds away what is idle by nature, and shares are of the rest", () => {
    const view = viewOf(modelOf([...WORKERS, SLEEPER], 20), { fold_idle: true });
    const { whole } = timesOf(view);
    expect(whole.folded_s).toBeCloseTo(20, 9);
    expect(whole.wall_s).toBeCloseTo(40, 9);
    expect(TIME_PARTS.filter((part) => isIdle(part) && whole.parts[part] > 0)).toEqual([]);
    expect(view.lines.map(({ part }) => part)).not.toContain("sleep");
    const running = view.lines.find(({ part }) => part === "on_cpu");
    expect(running?.last).toBeCloseTo(0.25, 9);
  });

  it("is of the thread that is selected", () => {
    const model = modelOf([...WORKERS, SLEEPER], 20);
    const { whole, scope } = timesOf(viewOf(model, { selected: "9@-5000000000" }));
    expect(scope).toBe("thread");
    expect(whole.parts.sleep / whole.wall_s).toBeCloseTo(1, 9);
  });

  it("counts threads that were born and ended within the window with all of their life", () => {
    const brief: LedgerThread = {
      ...{ tid: 50, name: "brief", start_s: 4.03 },
      stays: [
        [4.03, "woken"],
        [4.04, "on_cpu"],
        [5.5, "futex"],
        [7.77, "ended"],
      ],
    };
    const { roles } = timesOf(viewOf(modelOf([SLEEPER, brief], 20)));
    const row = roles.find(({ name }) => name === "brief");
    expect(row?.wall_s).toBeCloseTo(3.74, 6);
    expect(row?.parts.on_cpu).toBeCloseTo(1.46, 6);
    expect(row?.parts.futex).toBeCloseTo(2.27, 6);
  });

  it("says which threads have no ledger", () => {
    const without: LedgerThread = { ...SLEEPER, tid: 77, name: "late", without: true };
    const { whole, absent } = timesOf(viewOf(modelOf([SLEEPER, without], 20)));
    expect(whole.parts.unsplit).toBeCloseTo(20, 6);
    expect(absent).toEqual([{ part: "unsplit", reason: "1 of 2 threads have no ledger" }]);
  });

  it("shows a thread that was settled down by some microseconds as it is", () => {
    const model = new TargetModel();
    const frames = new LedgerFrames(WORKERS);
    for (let i = 0; i <= 100; i++) {
      const frame = frames.at(i / 10);
      const column = frame.columns[frame.fields.indexOf("state_on_cpu_ns")];
      if (i === 50 && column)
        for (const row of column.keys()) column[row] = (column[row] ?? 0) - 9e3;
      model.ingest(frame);
    }
    const { whole } = timesOf(viewOf(model));
    expect(whole.parts.on_cpu).toBeCloseTo(5, 3);
    expect([...model.threads.all()].some(({ reset }) => reset)).toBe(false);
  });
});
