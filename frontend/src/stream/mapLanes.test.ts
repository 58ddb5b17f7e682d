import { describe, expect, it } from "vitest";
import { frame, type Row, TARGET } from "../testing/frames";
import { ENDED_LANES, MapLanes, type RoleLanes } from "./mapLanes";
import { foldOf } from "./mapLayout";
import { MapMaker } from "./mapView";
import { filterFrom } from "./rank";
import { TargetModel } from "./targetModel";
import { type Thread, Threads } from "./threads";
import { DEFAULT_MAP, DEFAULT_REQUEST, type MapRequest } from "./viewRequest";

/** A thread that lived from one moment to another; null: still alive. */
function lived(book: Threads, tid: number, name: string, from_s: number, end_s: number | null) {
  const instants = (now_s: number) => ({ before_s: now_s - 10, now_s });
  const thread = book.add(tid, 1e9 * from_s, name, instants(from_s), 0);
  if (end_s !== null) {
    thread.life_s = end_s - from_s;
    book.end(thread, instants(end_s), true);
  }
  return thread;
}

/** Thread IDs in their lanes, by role. */
function tids(roles: readonly RoleLanes[]): Record<string, number[][]> {
  return Object.fromEntries(
    roles.map(({ role, lanes }) => [role, lanes.map((lane) => lane.threads.map((t) => t.tid))]),
  );
}

/** Threads of a tenth of a second each, at a rate per second, from a moment on. */
function short(book: Threads, count: number, per_s: number, from_s: number): Thread[] {
  return Array.from({ length: count }, (_, i) =>
    lived(book, 100 + i, "short-1", from_s + i / per_s, from_s + i / per_s + 0.1),
  );
}

describe("MapLanes", () => {
  it("puts lives that do not overlap behind one another, within a role", () => {
    const book = new Threads();
    const threads = [
      lived(book, 1, "main", 0, null),
      lived(book, 2, "w-1", 1, 2),
      lived(book, 3, "w-2", 1.5, 4),
      lived(book, 4, "w-3", 2.5, null),
      lived(book, 5, "io", 3, 5),
      lived(book, 6, "w-4", 4.1, null),
      lived(book, 7, "w-5", 4.3, null),
    ];
    // Thread 6 begins too soon after thread 3: in one lane both would look like one.
    expect(tids(new MapLanes(0.2).update(threads))).toEqual({
      main: [[1]],
      "w-#": [[2, 4], [3, 7], [6]],
      io: [[5]],
    });
  });

  it("gives each living thread a lane, by age", () => {
    const book = new Threads();
    const threads = [5, 3, 4].map((tid) => lived(book, tid, `w-${tid}`, tid, null));
    expect(tids(new MapLanes(0.2).update(threads))).toEqual({ "w-#": [[3], [4], [5]] });
  });

  it("needs no more lanes for ten thousand short lives than for some", () => {
    const book = new Threads(undefined, 20_000);
    const others = [lived(book, 1, "main", 0, null), lived(book, 2, "short-1", 0, null)];
    const { main, "short-#": lanes = [] } = tids(
      new MapLanes(0.2).update([...others, ...short(book, 10_000, 1000, 1)]),
    );
    expect(main).toEqual([[1]]);
    expect(lanes).toHaveLength(1 + ENDED_LANES);
    expect(lanes.flat()).toHaveLength(10_001);
    // Threads without a free lane are spread evenly.
    const sizes = lanes.slice(1).map((lane) => lane.length);
    expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(3);
  });

  it("moves nobody while time scrolls", () => {
    const book = new Threads();
    const all = short(book, 200, 25, 1);
    const lanes = new MapLanes(0.1);
    const places = new Map<number, number>();
    let moved = 0;
    for (let t_s = 2; t_s < 9; t_s += 0.5) {
      const seen = all.filter(({ from_s, end_s }) => from_s <= t_s && (end_s ?? 0) >= t_s - 1);
      const now = tids(lanes.update(seen))["short-#"] ?? [];
      expect(now.flat()).toHaveLength(seen.length);
      for (const [place, lane] of now.entries()) {
        for (const tid of lane) {
          if ((places.get(tid) ?? place) !== place) moved++;
          places.set(tid, place);
        }
      }
    }
    expect(moved).toBe(0);
  });

  it("moves a thread whose role changes, and forgets those out of view", () => {
    const book = new Threads();
    const threads = [1, 2, 3].map((tid) => lived(book, tid, `w-${tid}`, tid, null));
    const lanes = new MapLanes(0.1);
    lanes.update(threads);
    const [, second] = threads;
    if (second) book.rename(second, "io");
    expect(tids(lanes.update(threads))).toEqual({ "w-#": [[1], [3]], io: [[2]] });
    expect(tids(lanes.update(threads.slice(1)))).toEqual({ "w-#": [[3]], io: [[2]] });
  });
});

/** Processes of a main thread and two workers each, from pid 10 on, in steps of 10. */
function modelOf(processes: number): TargetModel {
  const model = new TargetModel();
  const rows = (t_s: number): Row[] =>
    Array.from({ length: processes }, (_, k) => 10 * (k + 1)).flatMap((pid) =>
      ["server", "worker-1", "worker-2"].map((name, i) => ({
        ...{ tid: pid + i, pid, name, start_s: -1 },
        counters: { cpu_run_ns: i * 1e8 * t_s },
      })),
    );
  for (const seq of [1, 2, 3]) model.ingest(frame({ seq, t_s: seq }, rows(seq)));
  return model;
}

function layoutFor(model: TargetModel, asked: Partial<MapRequest>) {
  const maker = new MapMaker();
  const input = {
    ...{ model, target: TARGET, request: DEFAULT_REQUEST, filter: filterFrom("") },
    ...{ span: { t0_s: 0, t1_s: 10 }, now_s: model.now_s },
  };
  const map = { ...DEFAULT_MAP, by: "process", width_px: 20, rows: 100, ...asked } as const;
  const view = maker.make(input, map, true, () => 0);
  if (!view?.layout) throw new Error("no map");
  const groups = view.layout.groups.map(({ role, rows, threads, heading }) =>
    [heading ? `[${role}]` : role, rows, threads].join(" "),
  );
  return { groups, layout: view.layout };
}

describe("the map of a group", () => {
  it("stacks threads by process, and by role on request", () => {
    const model = modelOf(2);
    expect(layoutFor(model, {}).groups).toEqual(["server 10 3 3", "server 20 3 3"]);
    expect(layoutFor(model, { by: "role" }).groups).toEqual(["server 2 2", "worker-# 4 4"]);
    const alone = layoutFor(model, {}).layout;
    expect(alone.processes.slice(2, 4)).toEqual(["server (10)", "server (20)"]);
  });

  it("unfolds a process to its roles below a heading", () => {
    const model = modelOf(2);
    const [, second] = model.levels.processes();
    const { groups, layout } = layoutFor(model, { open: [second?.key ?? ""] });
    expect(groups).toEqual(["server 10 3 3", "[server 20] 1 0", "server 1 1", "worker-# 2 2"]);
    expect([2, 3, 4, 6].map((row) => foldOf(layout, row))).toEqual([
      ...["process:10@-1000000000", second?.key, second?.key, second?.key],
    ]);
  });

  it("stacks many processes by their names", () => {
    const model = modelOf(90);
    const { groups, layout } = layoutFor(model, {});
    expect(groups).toEqual(["server 100 270"]);
    expect(layout.per_row).toBe(3);
    expect(layoutFor(model, { open: ["name:server"] }).groups).toEqual([
      ...["[server] 1 0", "server 50 90", "worker-# 49 180"],
    ]);
  });
});
