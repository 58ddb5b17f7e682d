import { describe, expect, it } from "vitest";
import { ENDED_LANES, MapLanes, type RoleLanes } from "./mapLanes";
import { type Thread, Threads } from "./threads";

/** A thread that was there from one moment to another; null: it lives. */
function lived(book: Threads, tid: number, name: string, from_s: number, end_s: number | null) {
  const instants = (now_s: number) => ({ before_s: now_s - 10, now_s });
  const thread = book.add(tid, 1e9 * from_s, name, instants(from_s), 0);
  if (end_s !== null) {
    thread.life_s = end_s - from_s;
    book.end(thread, instants(end_s), true);
  }
  return thread;
}

/** Ids in their lanes, by role. */
function tids(roles: readonly RoleLanes[]): Record<string, number[][]> {
  return Object.fromEntries(
    roles.map(({ role, lanes }) => [role, lanes.map((lane) => lane.threads.map((t) => t.tid))]),
  );
}

/** Threads of a tenth of a second, so many a second, from a moment on. */
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
    // Thread 6 begins too soon after thread 3: they would look like one.
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
    // Those that do not find room are spread evenly.
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
