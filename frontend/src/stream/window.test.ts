import { describe, expect, it } from "vitest";
import { frame, type Row, TARGET } from "../testing/frames";
import { rateAt } from "./currentRates";
import { filterFrom } from "./rank";
import { tableView } from "./tableView";
import { TargetModel } from "./targetModel";
import { tileViews } from "./tileView";
import { DEFAULT_REQUEST, DEFAULT_TABLE } from "./viewRequest";
import { axisStep, spanOf, windowRates } from "./window";

describe("spanOf", () => {
  it("moves a live window in steps, ahead of the newest instant", () => {
    expect(spanOf({ kind: "last", seconds: 60 }, 100.2)).toEqual({ t0_s: 40.5, t1_s: 100.5 });
    expect(spanOf({ kind: "last", seconds: 60 }, 100.5)).toEqual({ t0_s: 40.5, t1_s: 100.5 });
    expect(axisStep(600)).toBe(2.5);
  });

  it("is no longer than what there is, and grows with it in steps", () => {
    const minute = { kind: "last", seconds: 60 } as const;
    const lengthAt = (now_s: number, from_s: number) => {
      const { t0_s, t1_s } = spanOf(minute, now_s, from_s);
      return t1_s - t0_s;
    };
    expect([1, 9, 12, 21, 44, 50, 400].map((now_s) => lengthAt(now_s, 0))).toEqual([
      10, 10, 15, 30, 45, 60, 60,
    ]);
    // A grown axis is at least half full.
    for (let now_s = 10; now_s < 400; now_s += 0.7) {
      expect(Math.min(60, now_s) / lengthAt(now_s, 0)).toBeGreaterThanOrEqual(0.6);
    }
    expect(lengthAt(100, 95)).toBe(10);
    expect(lengthAt(3, Number.NaN)).toBe(60);
  });

  it("leaves a fixed one where it is, and never empty", () => {
    expect(spanOf({ kind: "fixed", t0_s: 5, t1_s: 9 }, 100)).toEqual({ t0_s: 5, t1_s: 9 });
    expect(spanOf({ kind: "fixed", t0_s: 5, t1_s: 5 }, 100).t1_s).toBeGreaterThan(5);
  });
});

const SECOND = 1e9;
/** From 4 s to 6 s the worker uses a whole core, otherwise a tenth. */
const workerCpu = (t_s: number): number => 0.1 * t_s + 0.9 * Math.min(2, Math.max(0, t_s - 4));

/** A sleeping main thread, a worker, and a helper born at 5 s. */
function model(): TargetModel {
  const made = new TargetModel();
  for (let i = 0; i <= 20; i++) {
    const t_s = i / 2;
    const rows: Row[] = [
      { tid: 10, start_s: -9, name: "main", counters: { cpu_run_ns: 5 * SECOND } },
      { tid: 11, start_s: -8, name: "worker", counters: { cpu_run_ns: workerCpu(t_s) * SECOND } },
    ];
    if (t_s > 5) {
      const counters = { cpu_run_ns: 0.5 * (t_s - 5) * SECOND, major_faults: 3 };
      rows.push({ tid: 12, start_s: 5, name: "helper", counters });
    }
    made.ingest(frame({ seq: i + 1, t_s }, rows));
  }
  return made;
}

function input(made: TargetModel, t0_s: number, t1_s: number) {
  const request = { ...DEFAULT_REQUEST, window: { kind: "fixed", t0_s, t1_s } } as const;
  const filter = filterFrom("");
  return { model: made, target: TARGET, request, filter, span: { t0_s, t1_s }, now_s: made.now_s };
}

describe("a window that was chosen", () => {
  it("has means over it for the process and for each thread", () => {
    const made = model();
    const cpu = made.counters.columnOf("cpu_run_ns");
    const over = (t0_s: number, t1_s: number) => windowRates(made, { t0_s, t1_s });
    expect(rateAt(over(4, 6), cpu) / SECOND).toBeCloseTo(1 + 0.25, 6);
    expect(rateAt(over(1, 3), cpu) / SECOND).toBeCloseTo(0.1, 6);
    // The helper is born halfway: its growth is averaged over the whole window.
    expect(rateAt(over(4, 8), cpu) / SECOND).toBeCloseTo(0.1 + 0.9 / 2 + 1.5 / 4, 6);
  });

  it("has them in table and tiles, of the threads that lived in it", () => {
    const made = model();
    const rates = windowRates(made, { t0_s: 1, t1_s: 3 });
    const view = tableView(input(made, 1, 3), rates, DEFAULT_TABLE);
    expect(view.rows.map(({ tid }) => tid)).toEqual([11, 10]);
    expect(view.rate_span_s).toBe(2);
    const cpu = view.fields.indexOf("cpu_run_ns");
    expect((view.rows[0]?.rates[cpu] ?? 0) / SECOND).toBeCloseTo(0.1, 6);
    expect((view.rows[0]?.totals[cpu] ?? 0) / SECOND).toBeCloseTo(0.3, 6);
    const tiles = tileViews(input(made, 4, 8), windowRates(made, { t0_s: 4, t1_s: 8 }));
    const values = Object.fromEntries(tiles.map(({ id, value }) => [id, value]));
    const { cpu: cores, turnover, threads } = values;
    expect(cores).toBeCloseTo(0.925, 6);
    expect(turnover).toBe(1);
    expect(threads).toBe(3);
  });

  it("has no rates of fields whose past is not kept, but their totals", () => {
    const made = model();
    const view = tableView(input(made, 6, 8), windowRates(made, { t0_s: 6, t1_s: 8 }), {
      ...DEFAULT_TABLE,
      lives: "all",
    });
    const faults = view.fields.indexOf("major_faults");
    const helper = view.rows.find(({ tid }) => tid === 12);
    expect(helper?.rates[faults]).toBeNaN();
    expect(helper?.totals[faults]).toBe(3);
  });
});
