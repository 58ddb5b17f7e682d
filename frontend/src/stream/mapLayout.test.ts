import { describe, expect, it } from "vitest";
import { MapLanes } from "./mapLanes";
import { countWithin, layoutOf, type MapLayout, nearestPlace, rowAt } from "./mapLayout";
import { type Thread, Threads } from "./threads";

const NOW = { before_s: 0, now_s: 0 };

/** Threads of these names, in order of birth; tid 10, 11, … */
function threads(...names: readonly string[]): Thread[] {
  const book = new Threads();
  return names.map((name, i) => book.add(10 + i, 1e9 * i, name, NOW, 0));
}

function layout(living: readonly Thread[], most: number): MapLayout {
  return layoutOf(new MapLanes(0.1).update(living), most);
}

const many = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, i) => `${name}-${i}`);

describe("layoutOf", () => {
  it("gives each thread a row while there are enough", () => {
    const map = layout(threads("main", "w-1", "io-1", "w-2"), 4);
    expect([map.rows, map.per_row, [...map.first]]).toEqual([4, 1, [0, 1, 2, 3, 4]]);
    expect(map.groups.map(({ role, row, rows, threads: n }) => [role, row, rows, n])).toEqual([
      ["main", 0, 1, 1],
      ["w-#", 1, 2, 2],
      ["io-#", 3, 1, 1],
    ]);
    expect([...map.tid]).toEqual([10, 11, 13, 12]);
  });

  it("lets the largest roles share rows, but no role with another", () => {
    const map = layout(threads("main", ...many(10, "w"), ...many(5, "io")), 8);
    expect([map.rows, map.per_row, map.lanes]).toEqual([8, 3, 16]);
    expect([...map.first]).toEqual([0, 1, 4, 6, 9, 11, 13, 15, 16]);
  });

  it("holds 5,000 threads in 370 rows, none lost", () => {
    const map = layout(threads(...many(5000, "w")), 370);
    expect(map.rows).toBeLessThanOrEqual(370);
    expect(map.per_row).toBe(14);
    expect(map.first[map.rows]).toBe(5000);
  });

  it("mixes roles when there are more of them than rows", () => {
    const map = layout(threads("a", "b", "c", "d", "e"), 2);
    expect([map.rows, map.per_row, map.groups[0]?.role]).toEqual([2, 3, "all roles"]);
  });

  it("is empty without threads", () => {
    expect(layoutOf([], 10)).toMatchObject({ rows: 0, per_row: 1, groups: [] });
  });
});

it("rowAt finds the row of a place", () => {
  const map = layout(threads("main", ...many(10, "w"), ...many(5, "io")), 8);
  expect([0, 1, 3, 4, 10, 11, 15].map((place) => rowAt(map, place))).toEqual([0, 1, 1, 2, 4, 5, 7]);
});

describe("a row of threads one after the other", () => {
  const book = new Threads();
  const threads = [0, 2, 4].map((from_s, i) => {
    const thread = book.add(20 + i, 1e9 * from_s, "w", { before_s: 0, now_s: from_s }, 0);
    thread.life_s = 1;
    book.end(thread, { before_s: from_s, now_s: from_s + 1.5 }, true);
    return thread;
  });
  const map = layout(threads, 10);

  it("is not shared at one time", () => {
    expect([map.rows, map.per_row, [...map.together]]).toEqual([1, 1, [1]]);
    expect([...map.until_s]).toEqual([1, 3, 5]);
  });

  it("has the one that was there, or was nearest", () => {
    expect([0.5, 1.4, 1.6, 9].map((t_s) => nearestPlace(map, 0, t_s))).toEqual([0, 0, 1, 2]);
    expect([countWithin(map, 0, 0.5, 0.6), countWithin(map, 0, 1.2, 1.3)]).toEqual([1, 0]);
    expect(countWithin(map, 0, 0.5, 4.5)).toBe(3);
  });
});
