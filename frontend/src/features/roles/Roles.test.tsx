import { screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ThreadNames } from "../../stream/factViews";
import { TARGET } from "../../testing/frames";
import { TestPage } from "../../testing/TestPage";
import { keepRules, ownRoles } from "./ownRoles";
import { previewRole, roleOptions, rolesOf, ruleFor, withRule } from "./RoleDialog";

afterEach(() => {
  for (const program of Object.keys(ownRoles.get())) keepRules(program, []);
});

async function openDialog(page: TestPage, name: string): Promise<HTMLElement> {
  page.region("Threads").getByRole("button", { name }).focus();
  await page.press("e");
  await page.settle();
  return screen.getByRole("dialog", { name: "Rename or merge a role" });
}

const fields = (dialog: HTMLElement) => ({
  pattern: within(dialog).getByLabelText(/^Threads named/),
  role: within(dialog).getByLabelText(/^Role/),
});

it("renames a role by a pattern, in all panels, after a preview; undo and reload", async () => {
  const page = await TestPage.watching();
  await page.click(page.region("Threads").getByLabelText("Roles"));
  await page.settle();
  const dialog = await openDialog(page, "worker-#");
  const { pattern, role } = fields(dialog);
  expect((pattern as HTMLInputElement).value).toBe("worker-*");
  expect(document.activeElement).toBe(role);
  await page.fill(role, "pool");
  await page.settle();
  const preview = within(dialog).getByRole("status");
  expect(preview.textContent).toBe("6 threads. Role until now: worker-# (6).");
  within(dialog).getByText("worker-6");
  await page.click(within(dialog).getByRole("button", { name: "Apply" }));
  expect(screen.queryByRole("dialog", { name: "Rename or merge a role" })).toBeNull();
  // The past is requested again, so that it uses the role too.
  expect(page.backend.commands.at(-1)).toMatchObject({ type: "subscribe", after_seq: null });
  await page.run(2);
  expect(page.row("pool").textContent).toContain("×6");
  expect(page.region("Threads").queryByRole("button", { name: "worker-#" })).toBeNull();

  const later = await TestPage.reopened(page);
  await later.click(later.region("Threads").getByLabelText("Roles"));
  await later.settle();
  expect(later.row("pool").textContent).toContain("×6");

  const again = await openDialog(later, "pool");
  expect((fields(again).pattern as HTMLInputElement).value).toBe("worker-*");
  within(again).getByText("tidscope record --role 'worker-*=pool' -- COMMAND");
  await later.click(within(again).getByRole("button", { name: "Remove worker-*" }));
  await later.click(within(again).getByRole("button", { name: "Cancel" }));
  await later.run(2);
  expect(later.row("worker-#").textContent).toContain("×6");
  await later.click(screen.getByRole("button", { name: "Undo" }));
  await later.run(2);
  expect(later.row("pool").textContent).toContain("×6");
});

it("merges roles, and says which", async () => {
  const page = await TestPage.watching();
  const dialog = await openDialog(page, "burner");
  const { pattern, role } = fields(dialog);
  await page.fill(pattern, "*er");
  await page.fill(role, "sleeper-#");
  await page.settle();
  expect(within(dialog).getByRole("status").textContent).toBe(
    "2 threads. Role until now: burner (1), writer (1). Merged with 4 threads that have this role.",
  );
  await page.fill(pattern, "nobody");
  await page.settle();
  expect(within(dialog).getByRole("status").textContent).toBe("No thread has such a name.");
});

it("attaching has the collector count by them", async () => {
  const rule = { pattern: "worker-*", role: "pool" };
  keepRules("server", [rule]);
  const page = await TestPage.open("/");
  page.backend.on("POST /targets", () => TARGET);
  await page.settle();
  await page.click(screen.getByRole("button", { name: "Attach to server, pid 4200" }));
  await page.settle();
  expect(page.backend.requests("POST /targets")[0]?.body).toMatchObject({ role_rules: [rule] });
});

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
