import { describe, expect, it } from "vitest";
import { callTree, chainTo, matchesOf, namesTo, rowOf, servicesOf } from "./callTree";
import { flameLayout, linesOf, moveInFlame } from "./flameLayout";

/** A calls B (60) and C (30), B calls D (40); a second root E (20). */
const NAMES = ["A", "B", "C", "D", "E"].map((operation) => ({ service: "s", operation }));
const COLUMNS = { name: NAMES, parent: [-1, 0, 0, 1, -1] };
const TREE = callTree(COLUMNS, [[100, 60, 30, 40, 20]]);

describe("callTree", () => {
  it("knows who is below whom", () => {
    expect(TREE.roots).toEqual([0, 4]);
    expect(TREE.children).toEqual([[1, 2], [3], [], [], []]);
    expect(TREE.depth).toEqual([0, 1, 1, 2, 0]);
    expect(TREE.total).toBe(120);
    expect(chainTo(TREE, 3)).toEqual([0, 1, 3]);
  });

  it("is as wide as the greater of two sets, and as what is below", () => {
    // B is only in the first set, C only in the second: A has room for both.
    const tree = callTree(COLUMNS, [
      [60, 60, 0, 40, 0],
      [70, 0, 70, 0, 10],
    ]);
    expect(tree.weight).toEqual([130, 60, 70, 40, 10]);
    expect(tree.children[0]).toEqual([2, 1]);
  });

  it("finds a row by names, as far as they lead", () => {
    expect(rowOf(TREE, namesTo(TREE, 3))).toBe(3);
    expect(rowOf(TREE, ["s A", "s B", "s gone"])).toBe(1);
    expect(rowOf(TREE, ["s gone"])).toBeNull();
  });

  it("counts what a search covers once", () => {
    expect(matchesOf(TREE, " ")).toBeNull();
    const found = matchesOf(TREE, "s b");
    expect([...(found?.rows ?? [])]).toEqual([1]);
    expect(found?.share).toBeCloseTo(0.5);
    // All rows match, and D lies in B, which lies in A.
    expect(matchesOf(TREE, "S")?.share).toBe(1);
    expect(matchesOf(TREE, "nothing")?.share).toBe(0);
  });

  it("orders services by their own width", () => {
    const name = ["web", "db", "db"].map((service, n) => ({ service, operation: `${n}` }));
    expect(servicesOf(callTree({ name, parent: [-1, 0, 1] }, [[100, 70, 10]]))).toEqual([
      "db",
      "web",
    ]);
  });
});

describe("flameLayout", () => {
  it("gives each box its share of the width, below its caller", () => {
    const boxes = flameLayout(TREE, null, 0);
    const at = (row: number) => boxes.find((box) => box.row === row);
    expect(at(0)).toMatchObject({ left: 0, depth: 0, above: false });
    expect(at(0)?.width).toBeCloseTo(100 / 120);
    expect(at(4)?.left).toBeCloseTo(100 / 120);
    expect(at(1)).toMatchObject({ left: 0, depth: 1 });
    expect(at(2)?.left).toBeCloseTo(60 / 120);
    expect(at(3)).toMatchObject({ left: 0, depth: 2 });
    expect(linesOf(boxes)).toBe(3);
  });

  it("gives what is zoomed to the whole width, and leaves its callers above it", () => {
    expect(flameLayout(TREE, 1, 0)).toEqual([
      { row: 0, left: 0, width: 1, depth: 0, above: true },
      { row: 1, left: 0, width: 1, depth: 1, above: false },
      { row: 3, left: 0, width: 40 / 60, depth: 2, above: false },
    ]);
  });

  it("leaves out what is too narrow, with what is below it", () => {
    expect(flameLayout(TREE, null, 0.3).map(({ row }) => row)).toEqual([0, 1, 3]);
    expect(flameLayout(TREE, null, 0.45).map(({ row }) => row)).toEqual([0, 1]);
  });

  it("draws what took no time when it is zoomed to", () => {
    const tree = callTree(COLUMNS, [[100, 0, 0, 0, 0]]);
    expect(flameLayout(tree, 1, 0).map(({ row }) => row)).toEqual([0, 1]);
  });
});

describe("moveInFlame", () => {
  const boxes = flameLayout(TREE, null, 0);
  it.each([
    [0, "ArrowDown", 1],
    [3, "ArrowUp", 1],
    [1, "ArrowRight", 2],
    [2, "ArrowLeft", 1],
    [2, "ArrowRight", null],
    [0, "ArrowUp", null],
    [3, "Home", 0],
    [0, "End", 3],
    [0, "x", null],
  ])("from %i by %s to %s", (row, key, to) => {
    expect(moveInFlame(boxes, TREE, row, key)).toBe(to);
  });
});
