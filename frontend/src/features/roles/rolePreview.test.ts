import { describe, expect, it } from "vitest";
import type { ThreadNames } from "../../stream/namesView";
import { previewRole, roleOptions, rolesOf, ruleFor, withRule } from "./rolePreview";

const NAMES: readonly ThreadNames[] = [
  { name: "worker-1", threads: 1 },
  { name: "worker-2", threads: 2 },
  { name: "pool-1", threads: 4 },
  { name: "main", threads: 1 },
];

describe("previewRole", () => {
  it("counts the threads, the roles they leave, and those they join", () => {
    expect(previewRole(NAMES, { pattern: "worker-*", role: "pool-#" }, [])).toEqual({
      threads: 3,
      names: ["worker-1", "worker-2"],
      from: [{ role: "worker-#", threads: 3 }],
      joined: 4,
    });
  });

  it("knows the rules that hold already", () => {
    const rules = [{ pattern: "*-1", role: "first" }];
    const preview = previewRole(NAMES, { pattern: "*-?", role: "all" }, rules);
    expect(preview.from).toEqual([
      { role: "first", threads: 5 },
      { role: "worker-#", threads: 2 },
    ]);
    expect(previewRole(NAMES, { pattern: "*-1", role: "first" }, rules).from).toEqual([]);
  });

  it("finds nothing without a pattern, or with one that nothing fits", () => {
    for (const pattern of ["", "orker"]) {
      expect(previewRole(NAMES, { pattern, role: "x" }, []).threads).toBe(0);
    }
  });
});

it("lists the roles that there are", () => {
  expect(rolesOf(NAMES, [{ pattern: "m*", role: "lead" }])).toEqual(["lead", "pool-#", "worker-#"]);
});

it("begins with the pattern of a role, or with the correction that made it", () => {
  expect(ruleFor("worker-#", [])).toEqual({ pattern: "worker-*", role: "worker-#" });
  const made = { pattern: "work*", role: "pool" };
  expect(ruleFor("pool", [made])).toEqual(made);
});

it("a later correction comes first, one of the same pattern takes the place of the other", () => {
  const [a, b, c] = [
    { pattern: "a*", role: "A" },
    { pattern: "b*", role: "B" },
    { pattern: "a*", role: "C" },
  ];
  expect(withRule(withRule([a], b), c)).toEqual([c, b]);
});

it("says the same on a command line", () => {
  const own = [
    { pattern: "work*", role: "the pool" },
    { pattern: "it's", role: "x" },
  ];
  expect(roleOptions(own)).toBe(`--role 'work*=the pool' --role 'it'\\''s=x'`);
});
