import { describe, expect, it } from "vitest";
import { stableOrder, stableTree } from "./useStableOrder";

const own = (key: string) => key;

it("lets rows stand as they come", () => {
  expect(stableOrder(null, ["b", "a"], own)).toEqual(["b", "a"]);
});

it("keeps old rows in place, drops the gone, appends the new in their order", () => {
  expect(stableOrder(["a", "b", "c"], ["d", "c", "e", "a"], own)).toEqual(["a", "c", "d", "e"]);
});

describe("stableTree", () => {
  const rows = ["a", "a1", "a2", "b", "b1", "b2", "b21"];
  const depthOf = (row: string) => row.length;
  const keyOf = (row: string) => row;

  it("keeps siblings in their places, each below its parent", () => {
    const before = ["b", "b2", "b1", "a", "a1"];
    expect(stableTree(before, rows, keyOf, depthOf)).toEqual([
      "b",
      "b2",
      "b21",
      "b1",
      "a",
      "a1",
      "a2",
    ]);
  });

  it("takes rows as they come where nothing is held, and a part of a tree", () => {
    expect(stableTree(null, rows, keyOf, depthOf)).toBe(rows);
    expect(stableTree(["b1", "a2", "b"], ["a2", "a3", "b", "b1"], keyOf, depthOf)).toEqual([
      ...["a2", "a3", "b", "b1"],
    ]);
  });
});
