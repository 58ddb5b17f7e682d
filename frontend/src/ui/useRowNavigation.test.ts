import { describe, expect, it } from "vitest";
import { moveInTree, type TreeRow } from "./useRowNavigation";

const ROWS: readonly TreeRow[] = [
  { depth: 1, open: true },
  { depth: 2, open: false },
  { depth: 2, open: true },
  { depth: 3, open: null },
  { depth: 1, open: false },
];
const press = (key: string, index: number) => moveInTree(key, index, (at) => ROWS[at]);

describe("moveInTree", () => {
  it("opens a closed row and goes into an open one", () => {
    expect(press("ArrowRight", 1)).toEqual({ fold: false });
    expect(press("ArrowRight", 2)).toEqual({ focus: 3 });
    expect(press("ArrowRight", 3)).toBeNull();
  });

  it("closes an open row and goes up from others", () => {
    expect(press("ArrowLeft", 0)).toEqual({ fold: true });
    expect(press("ArrowLeft", 1)).toEqual({ focus: 0 });
    expect(press("ArrowLeft", 3)).toEqual({ focus: 2 });
    expect(press("ArrowLeft", 4)).toBeNull();
  });

  it("stays where the row above is not known, and leaves other keys alone", () => {
    expect(
      moveInTree("ArrowLeft", 9, (at) => (at === 9 ? { depth: 3, open: null } : undefined)),
    ).toBeNull();
    expect(press("ArrowDown", 1)).toBeNull();
  });
});
