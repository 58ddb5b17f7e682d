import { beforeEach, expect, it, vi } from "vitest";

const RULE = { pattern: "worker-*", role: "pool" };

async function fresh(): Promise<typeof import("./ownRoles")> {
  vi.resetModules();
  return await import("./ownRoles");
}

beforeEach(() => window.localStorage.clear());

it("keeps the rules of each program for the next visit", async () => {
  const before = await fresh();
  before.keepRules("java", [RULE]);
  before.keepRules("nginx", [RULE]);
  before.keepRules("nginx", []);
  const after = await fresh();
  expect(after.rulesOf(after.ownRoles.get(), "java")).toEqual([RULE]);
  expect(after.rulesOf(after.ownRoles.get(), "nginx")).toEqual([]);
  expect(after.rulesOf(after.ownRoles.get(), "constructor")).toEqual([]);
});

it("reads only what are rules", async () => {
  const kept = { java: [RULE, { pattern: "", role: "x" }, 5], go: "none", c: [{ pattern: 1 }] };
  window.localStorage.setItem("tidscope.roles", JSON.stringify(kept));
  expect((await fresh()).ownRoles.get()).toEqual({ java: [RULE] });
  window.localStorage.setItem("tidscope.roles", "{");
  expect((await fresh()).ownRoles.get()).toEqual({});
});

it("forgets the program that was corrected longest ago", async () => {
  const { keepRules, ownRoles } = await fresh();
  for (let i = 0; i < 60; i++) keepRules(`program ${i}`, [RULE]);
  keepRules("program 10", [{ ...RULE, role: "other" }]);
  keepRules("program 60", [RULE]);
  const names = Object.keys(ownRoles.get());
  expect(names).toHaveLength(50);
  expect(names).not.toContain("program 11");
  expect(names).toContain("program 10");
});
