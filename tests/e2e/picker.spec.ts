/** Ways to a target: search, keyboard, demo, tree of processes; and what a viewer sees. */

import { allPanels, LivePage } from "./fixtures/livePage";
import { expect, test } from "./fixtures/test";

test("finds a process by its words, shows its CPU, and attaches with one click", async ({
  signedIn,
  stack,
  program,
}) => {
  const search = signedIn.getByLabel("Search processes");
  await search.fill(`steady_work ${program.pid}`);
  const row = signedIn.locator(`[data-pid="${program.pid}"]`);
  await expect(row).toContainText("steady_work");
  await expect(row).toContainText("native");
  await expect(row).toContainText("13");
  // CPU is known from the second listing on, and the program is not idle.
  await expect(row).toContainText(/[1-9]\d*(\.\d+)? %|0\.\d*[1-9]\d* %/);
  await row.getByRole("button").click();
  await expect(signedIn).toHaveURL(new RegExp(`\\?target=t-${program.pid}-[0-9a-f]{8}(&|$)`));
  await new LivePage(signedIn, stack).ready();
});

test("attaches by keyboard alone: search, arrow down, Enter", async ({
  signedIn,
  stack,
  program,
}) => {
  await expect(signedIn.getByRole("table")).toBeVisible();
  await signedIn.keyboard.press("/");
  await expect(signedIn.getByLabel("Search processes")).toBeFocused();
  await signedIn.keyboard.type(String(program.pid));
  const first = signedIn.locator('[data-row="0"]');
  await expect(first).toHaveAccessibleName(`Attach to steady_work, pid ${program.pid}`);
  await signedIn.keyboard.press("ArrowDown");
  await expect(first).toBeFocused();
  await signedIn.keyboard.press("Enter");
  await new LivePage(signedIn, stack).ready();
});

test("the demo starts, its exited threads have exact totals, and it stops", async ({
  signedIn,
}) => {
  await signedIn.getByRole("button", { name: "Start the demo" }).click();
  await expect(signedIn.locator('[data-tile="cpu"]')).toContainText(/\d/);
  await signedIn.getByRole("link", { name: "Threads" }).click();
  const threads = signedIn.getByRole("region", { name: "Threads" });
  await threads.getByText("Exited", { exact: true }).click();
  const row = threads.locator("[data-thread-state=exited]").first();
  await expect(row).toContainText(/task-\d+/);
  // Each task burns 5 ms of CPU time, which its exit record has to the nanosecond. A stall of a
  // virtual machine counts as CPU time, too.
  await expect(row.locator('[data-column="total:cpu_run_ns"]')).toHaveText(
    /^(([5-9]|\d\d|\d\d\d)(\.\d+)? ms|\d+(\.\d+)? s)$/,
  );
  await expect(threads.locator("[data-thread-state=live]")).toHaveCount(0);
  await threads.getByText("All", { exact: true }).click();
  await expect(threads.locator("[data-thread-state=live]").first()).toBeVisible();
  await signedIn.getByRole("button", { name: "Stop the demo" }).click();
  await expect(signedIn.getByText(/The process has exited|^Detached$/)).toBeVisible();
});

test("a viewer sees processes without their arguments, and the page says so", async ({
  page,
  stack,
  program,
}) => {
  await page.goto(stack.urlToWatch);
  await page.getByLabel("Search processes").fill(String(program.pid));
  const row = page.locator(`[data-pid="${program.pid}"]`);
  await expect(row).toContainText("steady_work");
  await expect(row).toContainText("(arguments are hidden from viewers)");
  await expect(row.getByText("(arguments are hidden from viewers)")).toHaveText(
    /^\/\S*steady_work \(arguments are hidden from viewers\)$/,
  );
});

test("a tree of processes is one target: its rows unfold, and processes that end stay in sums", async ({
  signedIn: page,
  family,
}) => {
  await page.getByText("Trees", { exact: true }).click();
  await page.getByLabel("Search processes").fill(String(family.pid));
  const whole = page.getByRole("button", {
    name: new RegExp(`pid ${family.pid}, and \\d+ descendants?$`),
  });
  await whole.click();
  await expect(page.getByText(`pid ${family.pid} and descendants`, { exact: true })).toBeVisible();

  await allPanels(page);
  const threads = page.getByRole("region", { name: "Threads", exact: true });
  await expect(threads.locator('tr[data-kind="process"]')).toHaveCount(3);
  const busy = threads
    .locator('tr[data-kind="process"]')
    .filter({ has: page.getByText("×13") })
    .first();
  await expect(busy.locator('[data-column="rate:cpu_run_ns"]')).toHaveText(/[1-9]/);
  const workers = threads.locator('tr[data-kind="role"]').filter({ hasText: "worker-#" });
  // Panels above that are drawn late move the row away from the pointer.
  await expect(async () => {
    await busy.getByRole("button", { name: "Unfold steady_work" }).click({ timeout: 5000 });
    await expect(workers).toContainText("×6", { timeout: 5000 });
  }).toPass();
  await workers.getByRole("button", { name: "worker-#", exact: true }).focus();
  await page.keyboard.press("ArrowRight");
  await expect(threads.locator('tr[aria-level="3"]')).toHaveCount(6);
  await expect(page.getByRole("region", { name: "CPU", exact: true })).toContainText("steady_work");

  // A process that exits is counted as ended, and its sums stay.
  await family.endOne();
  await expect(page.getByText(/^2 \(1 ended\)$/)).toBeVisible();
  await expect(threads.locator('tr[data-kind="process"]')).toHaveCount(2);
  const processes = page.getByRole("region", { name: "Processes", exact: true });
  // Panels outside the viewport are not updated.
  await processes.scrollIntoViewIfNeeded();
  await expect(processes.getByRole("row").filter({ hasText: "steady_work ended" })).toHaveCount(1);
});
