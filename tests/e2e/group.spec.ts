import { expect, test } from "./fixtures/test";

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
  await expect(page.getByText("process tree", { exact: true })).toBeVisible();

  const threads = page.getByRole("region", { name: "Threads", exact: true });
  await expect(threads.locator('tr[data-kind="process"]')).toHaveCount(3);
  const busy = threads
    .locator('tr[data-kind="process"]')
    .filter({ has: page.getByText("×13") })
    .first();
  await expect(busy.locator('[data-column="rate:cpu_run_ns"]')).toHaveText(/[1-9]/);
  await busy.getByRole("button", { name: "Unfold steady_work" }).click();
  const workers = threads.locator('tr[data-kind="role"]').filter({ hasText: "worker-#" });
  await expect(workers).toContainText("×6");
  await workers.getByRole("button", { name: "worker-#", exact: true }).focus();
  await page.keyboard.press("ArrowRight");
  await expect(threads.locator('tr[aria-level="3"]')).toHaveCount(6);
  await expect(page.getByRole("region", { name: "CPU", exact: true })).toContainText("steady_work");

  // One ends: it is counted, and what it did stays.
  await family.endOne();
  await expect(page.getByText(/^2 \(1 ended\)$/)).toBeVisible();
  await expect(threads.locator('tr[data-kind="process"]')).toHaveCount(2);
  const processes = page.getByRole("region", { name: "Processes", exact: true });
  // What is out of view stands still.
  await processes.scrollIntoViewIfNeeded();
  await expect(processes.getByRole("row").filter({ hasText: "steady_work ended" })).toHaveCount(1);
});
