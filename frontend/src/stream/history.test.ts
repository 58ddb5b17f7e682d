import { describe, expect, it } from "vitest";
import { History } from "./history";

/** Slots 0 and 1, fields 0 and 1; slot 1's field 0 counts the instants. */
function filled(instants: number, maxBytes?: number, maxAge_s?: number, step = 0.1): History {
  const history = new History(2, 2, maxBytes, maxAge_s);
  const latest = Float64Array.of(7, Number.NaN, 0, 3);
  for (let i = 0; i < instants; i++) {
    history.begin(i * step, latest, 8);
    history.set(1, 0, i);
    latest[2] = i;
  }
  return history;
}

function read(history: History, t0: number, t1: number, slot: number, field: number, since = 0) {
  const stretches = history.between(t0, t1);
  const out = new Float64Array(stretches.n);
  history.read(stretches, slot, field, since, out);
  return { time: [...stretches.time_s].map((t) => Math.round(t * 10)), values: [...out] };
}

describe("History", () => {
  it("returns what was set, over block borders, and one instant before", () => {
    expect(read(filled(20), 0.55, 1.05, 1, 0)).toEqual({
      time: [5, 6, 7, 8, 9, 10],
      values: [5, 6, 7, 8, 9, 10],
    });
  });

  it("holds values that do not move, and what is absent stays absent", () => {
    const history = filled(20);
    expect(read(history, 0.7, 0.9, 0, 0).values).toEqual([7, 7, 7, 7]);
    expect(read(history, 0.75, 0.8, 0, 1).values).toEqual([Number.NaN, Number.NaN]);
    expect(read(history, 0.75, 0.8, 1, 1).values).toEqual([3, 3]);
  });

  it("fills what was not set with the value before", () => {
    const history = new History(1, 1);
    const latest = Float64Array.of(1);
    for (let i = 0; i < 6; i++) {
      history.begin(i, latest, 8);
      if (i === 1 || i === 4) history.set(0, 0, 10 * i);
    }
    expect(read(history, 0, 5, 0, 0).values).toEqual([1, 10, 10, 10, 40, 40]);
    const all = history.between(0, 5);
    expect(history.at(all, "first", 0, 0, 0)).toBe(1);
    expect(history.at(all, "last", 0, 0, 0)).toBe(40);
  });

  it("reads some fields at once, at all instants or at some, as one by one", () => {
    const history = filled(40);
    const stretches = history.between(0.55, 3.2);
    const fields = Int32Array.of(1, 0);
    for (const picks of [null, Int32Array.of(0, 1, 7, 11, 19, 26)]) {
      const n = picks?.length ?? stretches.n;
      const got = new Float64Array(2 * n);
      for (const [slot, since] of [
        [0, 0],
        [1, 0],
        [1, 2],
      ] as const) {
        history.readFields(stretches, picks, slot, fields, since, got);
        for (const [f, field] of fields.entries()) {
          const all = new Float64Array(stretches.n);
          history.read(stretches, slot, field, since, all);
          const wanted = picks ? Array.from(picks, (pick) => all[pick]) : [...all];
          expect([...got.subarray(f * n, (f + 1) * n)]).toEqual(wanted);
        }
      }
    }
  });

  it("reads fields that are not wanted only where they move", () => {
    const history = new History(3, 1);
    const latest = Float64Array.of(1, 2, 3);
    for (let i = 0; i < 20; i++) {
      history.begin(i, latest, 8);
      // The second field changes within a block, the third with the first instant of the next one.
      if (i === 3) history.set(0, 1, latest.fill(30, 1, 2)[1] ?? 0);
      if (i === 16) history.set(0, 2, latest.fill(40, 2, 3)[2] ?? 0);
    }
    const readBetween = (t0: number, t1: number) => {
      const stretches = history.between(t0, t1);
      const wanted = Uint8Array.of(0, 0, 0);
      const out = new Float64Array(3 * stretches.n).fill(-1);
      const fields = Int32Array.of(0, 1, 2);
      history.readFields(stretches, null, 0, fields, 0, out, wanted);
      return { wanted: [...wanted], out: [...out] };
    };
    expect(readBetween(2, 4)).toEqual({
      wanted: [0, 1, 0],
      out: [-1, -1, -1, 2, 30, 30, -1, -1, -1],
    });
    expect(readBetween(4, 5).wanted).toEqual([0, 0, 0]);
    expect(readBetween(15, 16)).toEqual({ wanted: [0, 0, 1], out: [-1, -1, -1, -1, 3, 40] });
    expect(readBetween(17, 18).wanted).toEqual([0, 0, 0]);
  });

  it("keeps only the fields it is given, and has nothing of the others", () => {
    const history = new History(3, 2);
    history.keep([0, 2]);
    history.grow(2);
    expect(history.width).toBe(2);
    expect([history.indexOf(1, 0), history.indexOf(1, 1), history.indexOf(1, 2)]).toEqual([
      2, -1, 3,
    ]);
    const latest = Float64Array.of(1, 2, 3, 4);
    for (let i = 0; i < 3; i++) {
      history.begin(i, latest, 8);
      history.set(1, 2, 10 * i);
      history.set(1, 1, 99);
    }
    expect(read(history, 0, 2, 1, 2).values).toEqual([0, 10, 20]);
    expect(read(history, 0, 2, 1, 0).values).toEqual([3, 3, 3]);
    expect(read(history, 0, 2, 1, 1).values).toEqual([Number.NaN, Number.NaN, Number.NaN]);
    expect(history.at(history.between(0, 2), "last", 1, 1, 0)).toBeNaN();
  });

  it("shows a slot's new owner nothing of the one before", () => {
    const history = filled(12);
    history.clear(1);
    history.set(1, 0, 100);
    const since = history.blockId;
    expect(read(history, 0.65, 1.1, 1, 0, since).values).toEqual([
      Number.NaN,
      Number.NaN,
      Number.NaN,
      Number.NaN,
      Number.NaN,
      100,
    ]);
  });

  it("grows, in the block that is open too", () => {
    const history = filled(3);
    history.grow(5);
    history.set(4, 1, 9);
    expect(read(history, 0.1, 0.2, 4, 1).values).toEqual([Number.NaN, 9]);
    expect(read(history, 0, 0.2, 1, 0).values).toEqual([0, 1, 2]);
  });

  it("keeps no more than its age", () => {
    const history = filled(200, undefined, 5);
    expect(history.from_s).toBeGreaterThanOrEqual(20 - 5 - 2 * 0.8);
    expect(history.from_s).toBeLessThanOrEqual(15);
  });

  it("keeps within its bytes, by thinning first: one instant a second, totals unharmed", () => {
    const full = filled(2000);
    const history = filled(2000, full.bytes / 2);
    expect(history.bytes).toBeLessThanOrEqual(full.bytes / 2);
    expect(history.from_s).toBeLessThan(1);
    const old = read(history, 0, 20, 1, 0);
    expect(old.values).toEqual(old.time);
    expect(old.time.length).toBeLessThan(60);
    expect(read(history, 199, 199.9, 1, 0).values).toHaveLength(10);
  });

  it("drops the oldest when thinning is not enough", () => {
    const full = filled(2000);
    const history = filled(2000, full.bytes / 100);
    expect(history.bytes).toBeLessThanOrEqual(full.bytes / 100);
    expect(history.from_s).toBeGreaterThan(50);
    expect(read(history, 199.85, 199.9, 1, 0).values).toEqual([1998, 1999]);
  });
});
