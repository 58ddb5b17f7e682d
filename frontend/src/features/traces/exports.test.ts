import { expect, it } from "vitest";
import type { TraceTree } from "../../wire/generated/models";
import { dotGraph, foldedStacks } from "./exports";

const TREE: TraceTree = {
  name: [
    { service: "shop", operation: "GET  /;x" },
    { service: "db", operation: 'say "\\"' },
    { service: "db", operation: "quick" },
  ],
  parent: [-1, 0, 1],
  inclusive_ns: [10_000_000, 6_000_999, 999],
  exclusive_ns: [3_999_001, 6_000_000, 999],
  count: [10, 4, 1],
  exemplars: [[], [], []],
};

it("writes stacks as flamegraph.pl reads them", () => {
  expect(foldedStacks(TREE)).toBe('shop: GET /,x 3999\nshop: GET /,x;db: say "\\" 6000\n');
});

it("writes a graph whose names cannot leave their quotes", () => {
  const lines = dotGraph(TREE, 10).split("\n");
  expect(lines[3]).toBe(
    '  n0 [label="shop: GET  /;x\\n40.0% own, 100.0% with callees\\nin 10 of 10 traces", fillcolor=5];',
  );
  expect(lines[4]).toContain('[label="db: say \\"\\\\\\"\\n60.0% own');
  expect(lines[5]).toBe("  n0 -> n1 [penwidth=4.0];");
  expect(lines.at(-2)).toBe("}");
});
