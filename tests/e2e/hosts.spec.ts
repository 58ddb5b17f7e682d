/** Hosts: a real host on the wall, its role across hosts, and the way back to its threads. */

import { expect, test } from "./fixtures/test";

test("a host is on the wall, by keys its threads, and its roles across hosts", async ({
  watching: live,
}) => {
  const { page } = live;
  const target = page.url();
  await page.keyboard.press("g");
  await page.keyboard.press("h");
  await expect(page).toHaveURL(/\/hosts$/);
  // The first question starts a process.
  await expect(page.getByText("Only the last ten minutes are known")).toBeVisible({
    timeout: 120_000,
  });
  const wall = page.getByRole("application", { name: /the most unusual first/ });
  await wall.focus();
  // Rows come every ten seconds, and a rate needs two.
  await expect(page.locator("[data-wall-text]")).toContainText(/(running|idle|unknown) \d/, {
    timeout: 120_000,
  });
  await page.getByRole("button", { name: "Table: Hosts" }).click();
  await expect(
    page.getByRole("table", { name: "Hosts as a table" }).locator("[data-key]"),
  ).toHaveCount(1);

  await page.getByText("Across hosts", { exact: true }).click();
  await expect(page).toHaveURL(/view=across/);
  // The window also has roles of earlier programs, some of which ended before they had two rows.
  await page
    .getByRole("combobox", { name: "Role" })
    .selectOption({ label: "steady_work → burner (1 host)" });
  await page.getByRole("combobox", { name: "Counter" }).selectOption("cpu_run_ns");
  await expect(
    page.getByRole("table", { name: "Hosts with the role" }).locator("[data-key]"),
  ).toHaveCount(1);
  await expect(page.getByText("Outliers are named from 4 hosts on.")).toBeVisible();
  await page.reload();
  await expect(page.getByRole("combobox", { name: "Counter" })).toHaveValue("cpu_run_ns");

  await page.getByText("Compare sets", { exact: true }).click();
  await page.getByRole("textbox", { name: "Set of hosts" }).fill("canary=true");
  await page.keyboard.press("Enter");
  await expect(page.getByText("The set has no hosts")).toBeVisible();

  // In a past window a host is asked what it kept of its threads; this one keeps nothing.
  const until = Date.now();
  await page.goto(`${new URL(target).origin}/hosts?since=${until - 300_000}&until=${until}`);
  await wall.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toContainText("This host keeps no threads");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.goto(`${new URL(target).origin}/hosts`);
  await page.getByRole("searchbox", { name: "Search hosts" }).fill("no such host");
  await expect(page.getByText("No host matches")).toBeVisible();
  await page.getByRole("button", { name: "Show all" }).click();
  await wall.focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(target.replace(/&.*$/, ""));
});
