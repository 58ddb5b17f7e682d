import { describe, expect, it } from "vitest";
import { DARK_CHART_THEME, LIGHT_CHART_THEME } from "../../chart/palette";
import { hexRgb } from "../../chart/raster";
import type { TraceHeat } from "../../wire/generated/models";
import { changeGround, serviceGround } from "./ColourKeys";
import { callTree, chainTo, matchesOf, namesTo, rowOf, servicesOf } from "./callTree";
import { flameLayout, linesOf, moveInFlame } from "./FlameGraph";
import { heatColumns, heatText, heatTop, moveInHeat } from "./HeatPanel";

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

const trace = (n: number, start_ns: number, duration_ns: number) => ({
  ...{ trace_id: String(n).repeat(32), service: "web", operation: "GET /" },
  ...{ start_ns, duration_ns, spans: 3, services: 2, errors: 0 },
});

const HEAT: TraceHeat = {
  operations: [
    { service: "db", operation: "SELECT" },
    { service: "web", operation: "GET /" },
  ],
  traces: [trace(1, 10, 9e6), trace(2, 20, 4e6), trace(3, 30, 7e6)],
  exclusive_ns: [
    [5e6, 0, 3e6],
    [4e6, 4e6, 4e6],
  ],
  chains: [
    [
      [
        {
          chain: [
            { service: "web", operation: "GET /" },
            { service: "db", operation: "SELECT" },
          ],
          ns: 5e6,
        },
      ],
      [],
      [],
    ],
    [[], [], []],
  ],
};

describe("heat maps", () => {
  it("have their columns by start or by duration", () => {
    expect(heatColumns(HEAT, "start")).toEqual([0, 1, 2]);
    expect(heatColumns(HEAT, "duration")).toEqual([1, 2, 0]);
    expect(heatTop(HEAT)).toBe(5e6);
  });

  it("say what a cell is", () => {
    expect(heatText(HEAT, 0, 0)).toBe(
      "db SELECT: 5.00 ms on the critical path of a request of 9.00 ms; 5.00 ms in web GET /, db SELECT",
    );
    expect(heatText(HEAT, 0, 1)).toBe(
      "db SELECT: not on the critical path of a request of 4.00 ms",
    );
    expect(heatText(HEAT, 9, 1)).toBe("");
  });

  it.each([
    [null, "ArrowDown", { row: 0, column: 0 }],
    [{ row: 0, column: 0 }, "ArrowRight", { row: 0, column: 1 }],
    [{ row: 1, column: 2 }, "ArrowDown", { row: 1, column: 2 }],
    [{ row: 1, column: 1 }, "Home", { row: 1, column: 0 }],
    [{ row: 0, column: 1 }, "End", { row: 0, column: 2 }],
    [{ row: 0, column: 1 }, "x", null],
  ])("move from %o by %s", (from, key, to) => {
    expect(moveInHeat(from, key, 2, 3)).toEqual(to);
  });
});

/** Contrast by WCAG 2. */
function contrast(a: string, b: string): number {
  const luminance = (colour: string) => {
    const [red = 0, green = 0, blue = 0] = (hexRgb(colour) ?? []).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [most = 0, least = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (most + 0.05) / (least + 0.05);
}

describe.each([LIGHT_CHART_THEME, DARK_CHART_THEME])("grounds", (theme) => {
  it("leave text legible", () => {
    for (let index = 0; index < 8; index++) {
      expect(contrast(serviceGround(index, theme), theme.text)).toBeGreaterThan(4.5);
    }
    for (const change of [-100, -30, 0, 30, 100]) {
      expect(contrast(changeGround(change, 100, theme), theme.text)).toBeGreaterThan(4.5);
    }
  });

  it("tell growth from shrinking, and much from little", () => {
    const grounds = [-100, -10, 0, 10, 100].map((change) => changeGround(change, 100, theme));
    expect(new Set(grounds).size).toBe(5);
    expect(changeGround(5, 0, theme)).toBe(changeGround(0, 100, theme));
  });
});
