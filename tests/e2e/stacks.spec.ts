/** Stacks of a program whose threads wait for each other in a known way, down to the code. */

import type { Locator, Page } from "@playwright/test";
import { LivePage } from "./fixtures/livePage";
import { startLockWork } from "./fixtures/programs";
import type { Stack } from "./fixtures/stack";
import { expect, test } from "./fixtures/test";

interface Known {
  readonly id: string;
  readonly stacks: { readonly reason: string } | null;
}

const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

/** Watch a program, and have stacks taken; skips where none can be. */
async function takeStacks(page: Page, stack: Stack, pid: number): Promise<string> {
  await page.goto(stack.signingIn(`/?pid=${pid}&tab=all`));
  await expect(page.locator('[data-state="live"]').first()).toBeVisible();
  const id = new URL(page.url()).searchParams.get("target") ?? "";
  const { targets } = (await stack.get("/targets")) as { targets: readonly Known[] };
  const stacks = targets.find((target) => target.id === id)?.stacks ?? null;
  const why = stacks === null ? "this collector takes no stacks" : stacks.reason;
  test.skip(why !== "", why);
  await region(page, "Stacks").getByRole("button", { name: "Take stacks" }).click();
  return id;
}

/** Wait until the table of threads names code; before that its cells are links to "Stacks". */
async function expectCode(page: Page): Promise<void> {
  await expect(region(page, "Threads").getByRole("link", { name: /^work › / })).not.toHaveCount(0);
}

/** Cells of a function's row in the table below a flame graph. */
async function functionRow(panel: Locator, name: string): Promise<readonly string[]> {
  const table = panel.getByRole("table", { name: /^Functions/ });
  if (!(await table.isVisible())) await panel.getByText("As a table").click();
  const row = table
    .getByRole("row")
    .filter({ has: panel.page().getByRole("button", { name, exact: true }) });
  await expect(row.first()).toBeVisible();
  return row.locator("td").allTextContents();
}

test("a finding names the code, and leads to those who wait, release and hold", async ({
  page,
  stack,
}) => {
  const program = await startLockWork();
  try {
    await takeStacks(page, stack, program.pid);
    // "work" takes the lock, and sleeps while it has it.
    const finding = region(page, "Findings").getByRole("button", { name: /“pool_mu”/ });
    await expect(finding).toHaveText(
      /4 threads waited .* for one lock, “pool_mu”, taken in work\b.*, held longest in \w+/,
    );
    await expectCode(page);
    await region(page, "Waiting on").getByRole("link", { name: /^work/ }).click();

    const [waiting, released] = [region(page, "Waiting"), region(page, "Released by")];
    await expect(waiting.locator("[data-figure=samples]")).toHaveText(/^[\d\u202f]+ samples$/);
    const waits = await functionRow(waiting, "work");
    expect(waits).toContainEqual("lock_work");
    // Function, place, module, kind; then times with an interval, unless every wait was sampled.
    expect(waits.join()).toMatch(/s( ± | \(|, exact)/);
    await expect(released.locator("[data-flame]")).not.toHaveAttribute("data-boxes", "0");
    expect(await functionRow(released, "work")).toContainEqual("lock_work");
    await page.getByText("Held by", { exact: true }).click();
    await expect(region(page, "Held by").locator("[data-figure=samples]")).not.toHaveText(/^0/);
  } finally {
    await program.stop();
  }
});

test("a flame graph is driven by keys, keeps its view in the address, and differs by time", async ({
  page,
  stack,
}) => {
  const program = await startLockWork();
  try {
    const target = await takeStacks(page, stack, program.pid);
    await page.goto(`${stack.url}/stacks?target=${target}&last=10&role=worker-%23`);
    const graph = page.locator("[data-flame]");
    await expect(graph).toHaveAttribute("data-boxes", /^([5-9]|\d\d+)$/);
    await page.getByRole("button", { name: "Freeze" }).click();
    await expect(page.locator("[data-window=fixed]")).toBeVisible();
    await graph.focus();
    // Functions have their names soon after their first stack; the cursor leaves a box that gets one.
    await expect(async () => {
      await page.keyboard.press("Home");
      await expect(graph).toHaveAttribute("data-cursor", "clone3", { timeout: 1000 });
      for (const callee of ["start_thread", "work"]) {
        await page.keyboard.press("ArrowDown");
        await expect(graph).toHaveAttribute("data-cursor", callee, { timeout: 1000 });
      }
    }).toPass();
    await expect(page.locator("[data-flame-said]")).toContainText(
      /work: .* \(>?\d+ %\), .* samples/,
    );
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(/zoom=work/);
    await page.keyboard.press("/");
    await page.keyboard.type("lock_wait");
    await expect(page.locator("[data-figure=found]")).toHaveText(/s \(>?\d+ %\) matches/);
    await expect(page).toHaveURL(/search=lock_wait/);
    const address = page.url();
    await page.reload();
    await expect(page).toHaveURL(address);
    await expect(page.getByRole("navigation", { name: "Zoomed to" })).toContainText("› work");

    // Sum of all roots is the exact time, whatever is hidden.
    const exact = page.locator("[data-figure=exact]");
    const drawn = async () => Number(await graph.getAttribute("data-boxes"));
    await expect.poll(drawn).toBeGreaterThan(0);
    const boxes = await drawn();
    const time = await exact.textContent();
    await page.getByText("Hide kernel frames").click();
    await expect.poll(drawn).toBeLessThan(boxes);
    expect(await exact.textContent()).toBe(time);

    await page.getByRole("button", { name: "Back to live" }).click();
    await page.getByText("Against the time before", { exact: true }).click();
    const difference = page.locator("[data-panel=stacks-difference]");
    await expect(difference.locator("[data-figure=before]")).toHaveText(
      /the time before, .* samples/,
    );
    await expect(difference.getByRole("list", { name: "Colours" })).toContainText(
      "no certain change",
    );
  } finally {
    await program.stop();
  }
});

test("a run keeps its stacks, and two windows of it are compared", async ({ page, stack }) => {
  const program = await startLockWork();
  try {
    await takeStacks(page, stack, program.pid);
    // The first stacks come seconds after the request; the run has them from its beginning.
    await expectCode(page);
    await page.getByRole("button", { name: "Record", exact: true }).click();
    await expect(page.getByRole("button", { name: /^Stop recording/ })).toBeVisible();
    await new LivePage(page, stack).frames(100);
    await page.getByRole("button", { name: /^Stop recording/ }).click();
    await page.getByRole("button", { name: "Open", exact: true }).last().click();
    await expect(page.locator("[data-reading]")).toHaveAttribute("data-reading", "ready");
    await region(page, "Waiting on").scrollIntoViewIfNeeded();
    const where = region(page, "Waiting on").getByRole("link", { name: /^work/ });
    await expect(where).toBeVisible();
    const run = new URL(page.url()).pathname.split("/").at(-1) ?? "";
    await where.click();
    await expect(page).toHaveURL(/\/stacks\?run=r-/);
    expect(await functionRow(region(page, "Waiting"), "work")).toContainEqual("lock_work");
    await page.goto(`${stack.url}/compare?runs=${run}@0-4,${run}@5-9`);
    await page.getByRole("button", { name: "Compare stacks" }).click();
    const difference = page.locator("[data-panel=stacks-difference]");
    await expect(difference.locator("[data-flame]")).not.toHaveAttribute("data-boxes", "0");
  } finally {
    await program.stop();
  }
});
