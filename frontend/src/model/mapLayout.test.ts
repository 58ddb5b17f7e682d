import { describe, expect, it } from "vitest";
import { layoutOf, mapOrder, rowAt } from "./mapLayout";
import { type Thread, Threads } from "./threads";

/** Threads of these names, in order of birth; tid 10, 11, … */
function threads(...names: readonly string[]): Thread[] {
  const book = new Threads();
  return names.map((name, i) => book.add(10 + i, 1e9 * i, name, 0, 0));
}

const many = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, i) => `${name}-${i}`);

describe("mapOrder", () => {
  it("sorts by role in order of appearance, then by age", () => {
    const [main, w1, io, w2] = threads("main", "worker-1", "io-1", "worker-2");
    const order = mapOrder([w2, io, w1, main].filter((thread) => thread !== undefined));
    expect(order.map((thread) => thread.name)).toEqual(["main", "worker-1", "worker-2", "io-1"]);
  });
});

describe("layoutOf", () => {
  it("gives each thread a row while there are enough", () => {
    const layout = layoutOf(mapOrder(threads("main", "w-1", "w-2")), 3);
    expect([layout.rows, layout.per_row, [...layout.first]]).toEqual([3, 1, [0, 1, 2, 3]]);
    expect(layout.groups.map(({ role, row, rows, threads: n }) => [role, row, rows, n])).toEqual([
      ["main", 0, 1, 1],
      ["w-#", 1, 2, 2],
    ]);
    expect([...layout.tid]).toEqual([10, 11, 12]);
  });

  it("lets no role share a row with another", () => {
    const layout = layoutOf(mapOrder(threads("main", ...many(10, "w"), ...many(5, "io"))), 8);
    // 1 + ceil(10/3) + ceil(5/3) = 7 rows; two a row would take 9.
    expect([layout.rows, layout.per_row]).toEqual([7, 3]);
    expect([...layout.first]).toEqual([0, 1, 4, 7, 10, 11, 14, 16]);
  });

  it("holds 5,000 threads in 370 rows, none lost", () => {
    const layout = layoutOf(mapOrder(threads(...many(5000, "w"))), 370);
    expect(layout.rows).toBeLessThanOrEqual(370);
    expect(layout.per_row).toBe(14);
    expect(layout.first[layout.rows]).toBe(5000);
  });

  it("mixes roles when there are more of them than rows", () => {
    const layout = layoutOf(mapOrder(threads("a", "b", "c", "d", "e")), 2);
    expect([layout.rows, layout.per_row, layout.groups[0]?.role]).toEqual([2, 3, "all roles"]);
  });

  it("is empty without threads", () => {
    expect(layoutOf([], 10)).toMatchObject({ rows: 0, per_row: 1, groups: [] });
  });
});

it("rowAt finds the row of a place", () => {
  const layout = layoutOf(mapOrder(threads("main", ...many(10, "w"), ...many(5, "io"))), 8);
  expect([0, 1, 3, 4, 10, 11, 15].map((place) => rowAt(layout, place))).toEqual([
    0, 1, 1, 2, 4, 5, 6,
  ]);
});
