import { LivePage } from "./fixtures/livePage";
import { expect, test } from "./fixtures/test";

test("finds a process by its words, shows its CPU, and attaches with one click", async ({
  signedIn,
  site,
  program,
}) => {
  const search = signedIn.getByLabel("Search processes");
  await search.fill(`steady_work ${program.pid}`);
  const row = signedIn.locator(`[data-pid="${program.pid}"]`);
  await expect(row).toContainText("steady_work");
  await expect(row).toContainText("native");
  await expect(row).toContainText("13");
  // The first listing has no CPU yet, and it is not idle.
  await expect(row).toContainText(/[1-9]\d*(\.\d+)? %|0\.\d*[1-9]\d* %/);
  await row.getByRole("button").click();
  await expect(signedIn).toHaveURL(new RegExp(`\\?target=t-${program.pid}-[0-9a-f]{8}$`));
  await new LivePage(signedIn, site).ready();
});

test("attaches by keyboard alone: search, arrow down, Enter", async ({
  signedIn,
  site,
  program,
}) => {
  await expect(signedIn.getByRole("table")).toBeVisible();
  await signedIn.keyboard.press("/");
  await expect(signedIn.getByLabel("Search processes")).toBeFocused();
  await signedIn.keyboard.type(String(program.pid));
  await expect(signedIn.locator(`[data-pid="${program.pid}"]`)).toBeVisible();
  await signedIn.keyboard.press("ArrowDown");
  const first = signedIn.locator('[data-row="0"]');
  await expect(first).toBeFocused();
  await expect(first).toHaveAccessibleName(`Attach to steady_work, pid ${program.pid}`);
  await signedIn.keyboard.press("Enter");
  await new LivePage(signedIn, site).ready();
});

test("the demo starts, its exited threads have exact totals, and it stops", async ({
  signedIn,
}) => {
  await signedIn.getByRole("button", { name: "Start the demo" }).click();
  await expect(signedIn.locator('[data-tile="cpu"]')).toContainText(/\d/);
  const threads = signedIn.getByRole("region", { name: "Threads" });
  await threads.getByText("Exited", { exact: true }).click();
  const row = threads.locator("[data-thread-state=exited]").first();
  await expect(row).toContainText(/task-\d+/);
  // Each burns 5 ms of CPU time, which its exit record tells to the nanosecond.
  await expect(row.locator('[data-column="total:cpu_run_ns"]')).toHaveText(
    /^([5-9]|\d\d)(\.\d+)? ms$/,
  );
  await expect(threads.locator("[data-thread-state=live]")).toHaveCount(0);
  await threads.getByText("All", { exact: true }).click();
  await expect(threads.locator("[data-thread-state=live]").first()).toBeVisible();
  await signedIn.getByRole("button", { name: "Stop the demo" }).click();
  await expect(signedIn.getByText(/The process has exited|^Detached$/)).toBeVisible();
});

test("a viewer sees processes without their arguments, and the page says so", async ({
  page,
  site,
  program,
}) => {
  await page.goto(site.urlToWatch);
  await page.getByLabel("Search processes").fill(String(program.pid));
  const row = page.locator(`[data-pid="${program.pid}"]`);
  await expect(row).toContainText("steady_work");
  await expect(row).toContainText("(arguments are hidden from viewers)");
  await expect(row.getByText("(arguments are hidden from viewers)")).toHaveText(
    /^\/\S*steady_work \(arguments are hidden from viewers\)$/,
  );
});
