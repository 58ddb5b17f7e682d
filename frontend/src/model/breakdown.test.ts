import { describe, expect, it } from "vitest";
import { added, noTimes, PARTS, type RawTimes, settle, split } from "./breakdown";

/** Times with delays, all zero but these. */
function raw(changes: Partial<RawTimes>): RawTimes {
  return { ...noTimes(true), ...changes };
}

function total(parts: Record<string, number>): number {
  return Object.values(parts).reduce((sum, part) => sum + (Number.isNaN(part) ? 0 : part), 0);
}

/** A small generator of numbers, the same ones in each run (after Park and Miller, 1988). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (48271 * state) % 2147483647;
    return state / 2147483647;
  };
}

describe("split", () => {
  it("calls the rest what no state accounts for", () => {
    const { parts, over_s } = split(raw({ wall: 10, cpu: 4, queue: 2, blkio: 1, irq: 0.5 }));
    expect(parts).toMatchObject({ cpu: 4, queue: 2, blkio: 1, irq: 0.5, rest: 2.5, unsplit: 0 });
    expect(over_s).toBe(0);
  });

  it("says what is not available instead of 0, and does not call its time the rest", () => {
    const { parts } = split({ ...noTimes(false), wall: 10, cpu: 4, queue: 1 });
    expect(parts).toMatchObject({ cpu: 4, queue: 1, unsplit: 5, rest: 0 });
    for (const part of ["blkio", "swapin", "memory", "irq"] as const) {
      expect(parts[part]).toBeNaN();
    }
  });

  it("takes memory work out of the time on CPU, where it is done", () => {
    const { parts } = split(raw({ wall: 10, cpu: 5, copy: 2 }));
    expect(parts).toMatchObject({ cpu: 3, memory: 2, rest: 5 });
  });

  it("takes waits for pages out of the block I/O wait, within which they are", () => {
    const { parts } = split(raw({ wall: 10, blkio: 6, thrashing: 4, swapin: 1 }));
    // Of the 4 s of thrashing 1 s is the swap-in.
    expect(parts).toMatchObject({ blkio: 2, swapin: 1, memory: 3, rest: 4 });
  });

  it("takes swap-in from the CPU where swap is compressed memory", () => {
    const { parts } = split(raw({ wall: 10, cpu: 3, swapin: 2, thrashing: 2 }));
    expect(parts).toMatchObject({ cpu: 1, swapin: 2, memory: 0, rest: 7 });
  });

  it("takes swap-in from the rest on kernels that left it out of the block I/O wait", () => {
    const { parts } = split(raw({ wall: 10, blkio: 3, swapin: 2 }), true);
    expect(parts).toMatchObject({ blkio: 3, swapin: 2, rest: 5 });
  });

  it("counts reclaim and compaction once where they may lie within copying", () => {
    expect(split(raw({ wall: 10, cpu: 9, copy: 3, reclaim: 2 })).parts.memory).toBe(3);
    expect(split(raw({ wall: 10, cpu: 9, copy: 3, reclaim: 2, compact: 2 })).parts.memory).toBe(4);
  });

  it("scales states that are above the wall time, and says by how much", () => {
    const { parts, over_s } = split(raw({ wall: 1, cpu: 1.5, queue: 0.5 }));
    expect(over_s).toBe(1);
    expect(parts).toMatchObject({ cpu: 0.75, queue: 0.25, rest: 0 });
  });

  it("gives nothing of nothing", () => {
    expect(total(split(raw({})).parts)).toBe(0);
    expect(total(split(noTimes(false)).parts)).toBe(0);
    // Counters that moved before the thread was there to have a wall time.
    expect(total(split(raw({ cpu: 1 })).parts)).toBe(0);
  });

  it("adds up to the wall time and has no part below 0, whatever the counters", () => {
    const next = numbers(20260802);
    for (let round = 0; round < 5000; round++) {
      const some = (): number => (next() < 0.4 ? 0 : next() * 3);
      const missing = (): number => (next() < 0.15 ? Number.NaN : some());
      const times: RawTimes = {
        ...{ wall: some(), cpu: some(), queue: some(), blkio: missing(), swapin: missing() },
        ...{ thrashing: missing(), reclaim: missing(), compact: missing(), copy: missing() },
        irq: missing(),
      };
      const { parts, over_s } = split(times, next() < 0.5);
      expect(total(parts)).toBeCloseTo(times.wall, 9);
      for (const part of PARTS) expect(parts[part]).not.toBeLessThan(0);
      expect(over_s).toBeGreaterThanOrEqual(0);
      // States are never reported above what the kernel counted for them.
      expect(parts.cpu).toBeLessThanOrEqual(times.cpu + 1e-9);
      expect(parts.queue).toBeLessThanOrEqual(times.queue + 1e-9);
    }
  });
});

describe("added", () => {
  it("keeps a part absent only if both lack it", () => {
    const full = split(raw({ wall: 2, cpu: 1, blkio: 1 })).parts;
    const bare = split({ ...noTimes(false), wall: 3, cpu: 1 }).parts;
    const sum = added(full, bare);
    expect(sum).toMatchObject({ cpu: 2, blkio: 1, unsplit: 2, rest: 0 });
    expect(total(sum)).toBeCloseTo(5);
    expect(added(bare, bare).blkio).toBeNaN();
  });
});

describe("settle", () => {
  it("moves a long wait to when it was, for it is counted all at once when it ends", () => {
    const columns = [1, 1, 1, 1].map((wall) => raw({ wall }));
    const [, , third, last] = columns;
    if (!third || !last) throw new Error("columns are missing");
    last.cpu = 0.2;
    last.blkio = 2.5;
    last.thrashing = 2.5;
    settle(columns);
    expect(columns.map(({ blkio }) => blkio)).toEqual([0, 0.7, 1, 0.8].map(about));
    expect(columns.map(({ thrashing }) => thrashing)).toEqual([0, 0.7, 1, 0.8].map(about));
    expect(last.cpu).toBe(0.2);
  });

  it("keeps all that was counted, and leaves no column above its wall time but the first", () => {
    const next = numbers(7);
    for (let round = 0; round < 500; round++) {
      const columns = Array.from({ length: 12 }, () =>
        raw({ wall: 1, cpu: next(), queue: next() < 0.2 ? 3 * next() : 0, blkio: next() }),
      );
      const sums = (): number[] =>
        (["cpu", "queue", "blkio"] as const).map((state) =>
          columns.reduce((sum, column) => sum + column[state], 0),
        );
      const before = sums();
      settle(columns);
      expect(sums()).toEqual(before.map(about));
      for (const { wall, cpu, queue, blkio } of columns.slice(1)) {
        expect(cpu + queue + blkio).toBeLessThanOrEqual(wall + 1e-9);
      }
    }
  });

  it("moves nothing where delays are not available", () => {
    const columns = [1, 1].map((wall) => ({ ...noTimes(false), wall }));
    const [first, last] = columns;
    if (!first || !last) throw new Error("columns are missing");
    last.queue = 1.5;
    settle(columns);
    expect([first.queue, last.queue]).toEqual([0.5, 1]);
    expect(first.blkio).toBeNaN();
  });
});

function about(value: number): unknown {
  return expect.closeTo(value, 9);
}
