import { screen, within } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";
import { TARGET } from "../../testing/frames";
import { TestPage } from "../../testing/TestPage";
import { keepRules, ownRoles } from "./ownRoles";

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
