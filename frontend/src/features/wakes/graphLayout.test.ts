import { describe, expect, it } from "vitest";
import type { WakeNode } from "../../stream/wakes";
import { edgePath, edgeWidth, labelSize, NodeChoice, nodeBox, placeLabels } from "./graphEdges";
import { type GraphEdge, type GraphNode, NodePlaces, placeNodes } from "./graphLayout";

const SIZE = { width: 900, height: 440 };

function nodes(count: number): GraphNode[] {
  return Array.from({ length: count }, (_, k) => ({ key: `n${k}`, width: 120, height: 40 }));
}

function ring(count: number): GraphEdge[] {
  return Array.from({ length: count }, (_, k) => ({ from: `n${k}`, to: `n${(k + 1) % count}` }));
}

describe("places of nodes", () => {
  it.each([1, 5, 16])("%i nodes lie apart, and within the plot", (count) => {
    const placed = [...placeNodes(nodes(count), ring(count), SIZE, new Map()).values()];
    expect(placed).toHaveLength(count);
    for (const [i, a] of placed.entries()) {
      expect(a.x).toBeGreaterThanOrEqual(60);
      expect(a.x).toBeLessThanOrEqual(SIZE.width - 60);
      expect(a.y).toBeGreaterThanOrEqual(20);
      expect(a.y).toBeLessThanOrEqual(SIZE.height - 20);
      for (const b of placed.slice(i + 1)) {
        expect(Math.abs(a.x - b.x) > 119 || Math.abs(a.y - b.y) > 39).toBe(true);
      }
    }
  });

  it("fit a narrow page", () => {
    const narrow = { width: 360, height: 480 };
    const placed = [...placeNodes(nodes(8), ring(8), narrow, new Map()).values()];
    for (const [i, a] of placed.entries()) {
      expect(a.x).toBeGreaterThanOrEqual(60);
      expect(a.x).toBeLessThanOrEqual(300);
      for (const b of placed.slice(i + 1)) {
        expect(Math.abs(a.x - b.x) > 119 || Math.abs(a.y - b.y) > 39).toBe(true);
      }
    }
  });

  it("are the same each time", () => {
    expect(placeNodes(nodes(9), ring(9), SIZE, new Map())).toEqual(
      placeNodes(nodes(9), ring(9), SIZE, new Map()),
    );
  });

  it("stay when nodes come, go and come back", () => {
    const graph = new NodePlaces();
    const before = graph.place(nodes(6), ring(6), SIZE);
    const more = graph.place(nodes(7), ring(7), SIZE);
    for (const [key, place] of before) expect(more.get(key)).toEqual(place);
    graph.place(nodes(2), ring(2), SIZE);
    expect(graph.place(nodes(7), [], SIZE)).toEqual(more);
  });
});

describe("edges", () => {
  const a = { key: "a", width: 100, height: 40, x: 100, y: 100 };
  const b = { key: "b", width: 100, height: 40, x: 400, y: 100 };

  it("go from border to border, each direction on its own side", () => {
    const there = edgePath(a, b);
    const back = edgePath(b, a);
    expect(there.d).toMatch(/^M15\d\.\d,/);
    const [over, under] = [there.places[0]?.y ?? 0, back.places[0]?.y ?? 0];
    expect(over).not.toBeCloseTo(under);
    expect((over + under) / 2).toBeCloseTo(100, 0);
  });

  it("end at the border of the node, with room for the head, however near it is", () => {
    for (const near of [{ ...b, x: 210 }, { ...b, x: 150, y: 145 }, b, { ...b, x: 100, y: 300 }]) {
      const numbers =
        edgePath(a, near)
          .d.match(/-?\d+\.\d/g)
          ?.map(Number) ?? [];
      const [x = 0, y = 0] = numbers.slice(-2);
      const across = Math.abs(x - near.x) - near.width / 2;
      const down = Math.abs(y - near.y) - near.height / 2;
      const away = Math.max(across, down);
      expect(away).toBeGreaterThan(1);
      expect(away).toBeLessThanOrEqual(7.1);
    }
  });

  it("go around nodes that stand between, and so do their labels", () => {
    const between = { key: "c", width: 100, height: 40, x: 250, y: 75 };
    const straight = edgePath(a, b);
    const around = edgePath(a, b, [a, b, between]);
    expect(around.d).not.toBe(straight.d);
    const label = { key: "a", text: "12.3 /s", places: around.places };
    const at = placeLabels([label], [a, b, between], SIZE).get("a");
    expect(Math.abs((at?.y ?? 0) - between.y)).toBeGreaterThan(between.height / 2);
    // Unobstructed edges are unchanged.
    expect(edgePath(a, b, [a, b, { ...between, y: 300 }])).toEqual(straight);
  });

  it("loop above a node that wakes itself", () => {
    expect(edgePath(a, a).places[0]?.y).toBeLessThan(80);
  });

  it("are as wide as their value, and never too thin to be seen", () => {
    expect(edgeWidth(100, 100)).toBe(5);
    expect(edgeWidth(25, 100)).toBe(3);
    expect(edgeWidth(0, 100)).toBe(1);
    expect(edgeWidth(0, 0)).toBe(1);
  });
});

interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

describe("labels", () => {
  const hub = (count: number): GraphEdge[] =>
    Array.from({ length: count - 1 }, (_, k) => [
      { from: "n0", to: `n${k + 1}` },
      { from: `n${k + 1}`, to: "n0" },
    ]).flat();
  const role = (key: string): WakeNode => ({
    ...{ key, kind: "role" as const, name: `a-role-of-long-name-${key}`, colour: 0, threads: 1 },
    ...{ where: "", detail: "", gives_per_s: 1, gets_per_s: 1 },
  });

  it.each([
    ["1920 wide", 1180, 440, 16],
    ["1440 wide", 700, 440, 12],
    ["390 wide", 340, 480, 8],
  ])(
    "of many roles on a page %s lie over nothing, and within the plot",
    (_, width, height, count) => {
      const plot = { width, height };
      const boxes = nodes(count).map(({ key }) => nodeBox(role(key), width));
      // The strongest edges, and all edges of a selected role.
      const edges = [...ring(count).slice(1, 6), ...hub(count), { from: "n0", to: "n0" }];
      const places = placeNodes(boxes, edges, plot, new Map());
      const bodies = boxes.map((box) => ({ ...box, ...(places.get(box.key) ?? { x: 0, y: 0 }) }));
      const at = new Map(bodies.map((body) => [body.key, body]));
      const labels = edges.flatMap(({ from, to }) => {
        const [a, b] = [at.get(from), at.get(to)];
        const key = `${from} ${to}`;
        return a && b
          ? [{ key, text: "136 k/s", places: edgePath(a, b, bodies, plot).places }]
          : [];
      });
      const placed = placeLabels(labels, bodies, plot);
      const size = labelSize("136 k/s");
      const all = [...bodies, ...[...placed.values()].map((place) => ({ ...place, ...size }))];
      const isApart = (a: Rect, b: Rect): boolean =>
        Math.abs(a.x - b.x) >= (a.width + b.width) / 2 ||
        Math.abs(a.y - b.y) >= (a.height + b.height) / 2;
      for (const [i, a] of all.entries()) {
        expect(a.x - a.width / 2).toBeGreaterThanOrEqual(0);
        expect(a.x + a.width / 2).toBeLessThanOrEqual(width);
        expect(all.slice(i + 1).filter((b) => !isApart(a, b))).toEqual([]);
      }
      // If labels crowd, the first ones are placed first.
      expect(labels.slice(0, 6).map(({ key }) => placed.has(key))).toEqual(Array(6).fill(true));
      expect(placed.size).toBeGreaterThan(labels.length / 2);
    },
  );
});

it("draws those that were drawn, unless others have twice their wake-ups", () => {
  const node = (name: string, per_s: number) => ({
    ...{ key: name, kind: "role" as const, name, colour: 0, threads: 1 },
    ...{ where: "", detail: "", gives_per_s: per_s, gets_per_s: 0 },
  });
  const choice = new NodeChoice();
  const names = (some: ReturnType<typeof node>[]) => choice.choose(some, 2).map(({ key }) => key);
  expect(names([node("a", 10), node("b", 5), node("c", 4)])).toEqual(["a", "b"]);
  expect(names([node("a", 10), node("c", 9), node("b", 5)])).toEqual(["a", "b"]);
  expect(names([node("c", 11), node("a", 10), node("b", 5)])).toEqual(["c", "a"]);
});
