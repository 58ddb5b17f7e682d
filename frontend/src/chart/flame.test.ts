import { describe, expect, it } from "vitest";
import {
  boxAt,
  chainTo,
  type FlameMove,
  flameLayout,
  flameMove,
  flameTree,
  linesOf,
  matchesOf,
  moveInFlame,
  namesTo,
  rowOf,
} from "./flame";
import { cutText, depthAt, LINE_PX, topOf } from "./flameSurface";

/** A calls B (60) and C (30), B calls D (40); a second root E (20). */
const COLUMNS = { name: ["A", "B", "C", "D", "E"], parent: [-1, 0, 0, 1, -1] };
const TREE = flameTree(COLUMNS, [100, 60, 30, 40, 20]);

describe("flameTree", () => {
  it("knows who is below whom", () => {
    expect(TREE.roots).toEqual([0, 4]);
    expect(TREE.children).toEqual([[1, 2], [3], [], [], []]);
    expect(TREE.depth).toEqual([0, 1, 1, 2, 0]);
    expect(TREE.total).toBe(120);
    expect(chainTo(TREE, 3)).toEqual([0, 1, 3]);
  });

  it("orders siblings as wished, so that live widths do not move them", () => {
    const byName = (a: number, b: number) => a - b;
    const tree = flameTree(COLUMNS, [100, 30, 60, 10, 200], byName);
    expect(tree.roots).toEqual([0, 4]);
    expect(tree.children[0]).toEqual([1, 2]);
    expect(flameTree(COLUMNS, [100, 30, 60, 10, 200]).roots).toEqual([4, 0]);
  });

  it("finds a row by names, as far as they lead", () => {
    expect(rowOf(TREE, namesTo(TREE, 3))).toBe(3);
    expect(rowOf(TREE, ["A", "B", "gone"])).toBe(1);
    expect(rowOf(TREE, ["gone"])).toBeNull();
  });

  it("counts what a search covers once", () => {
    expect(matchesOf(TREE, " ")).toBeNull();
    const found = matchesOf(TREE, "b");
    expect([...(found?.rows ?? [])]).toEqual([1]);
    expect(found?.weight).toBe(60);
    expect(found?.share).toBeCloseTo(0.5);
    // All rows match, and D lies in B, which lies in A.
    expect(matchesOf(TREE, "S", () => "s")?.share).toBe(1);
    expect(matchesOf(TREE, "nothing")?.share).toBe(0);
  });
});

describe("flameLayout", () => {
  it("gives each box its share of the width, at its depth", () => {
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

  it("gives what is zoomed to the whole width, and leaves its callers before it", () => {
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
    const tree = flameTree(COLUMNS, [100, 0, 0, 0, 0]);
    expect(flameLayout(tree, 1, 0).map(({ row }) => row)).toEqual([0, 1]);
  });

  it("finds the box at a point, in both orientations", () => {
    const boxes = flameLayout(TREE, null, 0);
    expect(boxAt(boxes, 0.6, 1)?.row).toBe(2);
    expect(boxAt(boxes, 0.9, 1)).toBeUndefined();
    for (const upwards of [false, true]) {
      for (let depth = 0; depth < 3; depth++) {
        expect(depthAt(topOf(depth, 3, upwards) + 1, 3, upwards)).toBe(depth);
      }
    }
    expect(topOf(0, 3, true)).toBe(2 * LINE_PX);
  });
});

describe("moveInFlame", () => {
  const boxes = flameLayout(TREE, null, 0);
  const moves: readonly (readonly [number, FlameMove, number | null])[] = [
    [0, "callee", 1],
    [3, "caller", 1],
    [1, "right", 2],
    [2, "left", 1],
    [2, "right", null],
    [2, "callee", null],
    [0, "caller", null],
    [3, "first", 0],
    [0, "last", 3],
  ];
  it.each(moves)("from %i to the %s: %s", (row, move, to) => {
    expect(moveInFlame(boxes, TREE, row, move)).toBe(to);
  });

  it("goes to the widest callee, wherever it stands", () => {
    const tree = flameTree(COLUMNS, [100, 30, 60, 10, 20], (a, b) => a - b);
    expect(moveInFlame(flameLayout(tree, null, 0), tree, 0, "callee")).toBe(2);
  });

  it("follows the drawing: up is where the callers are drawn", () => {
    expect(flameMove("ArrowUp", false)).toBe("caller");
    expect(flameMove("ArrowUp", true)).toBe("callee");
    expect(flameMove("ArrowDown", true)).toBe("caller");
    expect(flameMove("x", false)).toBeNull();
  });
});

it("cuts texts that do not fit, and drops those that would be a letter", () => {
  const widthOf = (text: string) => 6 * text.length;
  expect(cutText("update_account", 200, widthOf)).toBe("update_account");
  expect(cutText("update_account", 48, widthOf)).toBe("update_…");
  expect(cutText("update_account", 15, widthOf)).toBe("");
});
