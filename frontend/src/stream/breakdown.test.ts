import { describe, expect, it } from "vitest";
import { added, noTimes, PARTS, type RawTimes, settle, split } from "./breakdown";

/** Times with delays, all zero except the given ones. */
function raw(changes: Partial<RawTimes>): RawTimes {
  return { ...noTimes(true), ...changes };
}

function total(parts: Record<string, number>): number {
  return Object.values(parts).reduce((sum, part) => sum + (Number.isNaN(part) ? 0 : part), 0);
}

/** A small reproducible random number generator (after Park and Miller, 1988). */
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

  it("takes waits for pages out of the block I/O delay, within which they are", () => {
    const { parts } = split(raw({ wall: 10, blkio: 6, thrashing: 4, swapin: 1 }));
    // 1 s of the 4 s of thrashing is swap-in.
    expect(parts).toMatchObject({ blkio: 2, swapin: 1, memory: 3, rest: 4 });
  });

  it("takes swap-in from the CPU where swap is compressed memory", () => {
    const { parts } = split(raw({ wall: 10, cpu: 3, swapin: 2, thrashing: 2 }));
    expect(parts).toMatchObject({ cpu: 1, swapin: 2, memory: 0, rest: 7 });
  });

  it("takes swap-in from the rest on kernels that left it out of the block I/O delay", () => {
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

  it("lets block I/O give way before what is counted exactly", () => {
    const { parts, over_s } = split(raw({ wall: 10, cpu: 4, queue: 3, blkio: 5 }));
    expect(parts).toMatchObject({ cpu: 4, queue: 3, blkio: 3, rest: 0 });
    expect(over_s).toBe(2);
    const more = split(raw({ wall: 10, cpu: 15, queue: 5, blkio: 5 }));
    expect(more.parts).toMatchObject({ cpu: 7.5, queue: 2.5, blkio: 0, rest: 0 });
  });

  it("gives nothing of nothing", () => {
    expect(total(split(raw({})).parts)).toBe(0);
    expect(total(split(noTimes(false)).parts)).toBe(0);
    // Counters that grew before the thread existed, so without wall time.
    expect(total(split(raw({ cpu: 1 })).parts)).toBe(0);
  });

  it("adds up to the wall time and has no part below 0, whatever the counters", () => {
    const next = numbers(20260802);
    for (let round = 0; round < 400; round++) {
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
      // States never exceed the kernel's count for each state.
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
  /** Settle these growths; wall is 1 s a column. */
  function settled(growth: Partial<Record<keyof RawTimes, number[]>>): Record<string, number[]> {
    const arrays = new Map(
      Object.entries(growth).map(([counter, values]) => [counter, Float64Array.from(values)]),
    );
    const columns = arrays.values().next().value?.length ?? 0;
    settle(new Float64Array(columns).fill(1), (counter) => arrays.get(counter) ?? null);
    return Object.fromEntries(Array.from(arrays, ([counter, values]) => [counter, [...values]]));
  }

  it("moves a long wait to when it was, for it is counted all at once when it ends", () => {
    expect(
      settled({ cpu: [0, 0, 0, 0.2], blkio: [0, 0, 0, 2.5], thrashing: [0, 0, 0, 2.5] }),
    ).toEqual({
      cpu: [0, 0, 0, 0.2],
      blkio: [0, 0.7, 1, 0.8].map(about),
      thrashing: [0, 0.7, 1, 0.8].map(about),
    });
  });

  it("leaves out what was before the first column", () => {
    expect(settled({ queue: [0, 2.5] })).toEqual({ queue: [1, 1] });
  });

  it("loses nothing that fits, and leaves no column above its wall time", () => {
    const next = numbers(7);
    for (let round = 0; round < 60; round++) {
      const row = (value: () => number): number[] => Array.from({ length: 12 }, value);
      const before = {
        cpu: row(next),
        queue: row(() => (next() < 0.2 ? 3 * next() : 0)),
        blkio: row(next),
      };
      const after = settled(before);
      const sum = (values: readonly number[] = []): number => values.reduce((a, b) => a + b, 0);
      for (let c = 0; c < 12; c++) {
        const column = Object.values(after).map((values) => values[c] ?? Number.NaN);
        expect(sum(column)).toBeLessThanOrEqual(1 + 1e-9);
        for (const value of column) expect(value).toBeGreaterThanOrEqual(-1e-9);
        // The columns up to here contain at least everything counted by their end.
        for (const state of ["cpu", "queue", "blkio"] as const) {
          const later = sum(after[state]?.slice(c + 1));
          expect(later).toBeLessThanOrEqual(sum(before[state].slice(c + 1)) + 1e-9);
        }
      }
    }
  });

  it("has nothing to move where nothing moved", () => {
    expect(settled({ cpu: [0, 0] })).toEqual({ cpu: [0, 0] });
    expect(settled({})).toEqual({});
  });
});

function about(value: number): unknown {
  return expect.closeTo(value, 9);
}
