/** Traces: from two sets of requests to the operation that differs, and to a request that shows it. */

import { jaegerFile } from "./fixtures/jaeger";
import { expect, test } from "./fixtures/test";

test("two imports differ in one operation, and its slowest request shows it", async ({
  page,
  stack,
}) => {
  await page.goto(stack.signingIn(`/traces`));
  const now_us = 1000 * (Date.now() - 3_600_000);
  await page
    .getByLabel("Traces to import")
    .setInputFiles([jaegerFile("aa", now_us, 30_000), jaegerFile("bb", now_us + 600e6, 250_000)]);
  const endpoints = page.getByRole("table", { name: "Endpoints" });
  await expect(endpoints.locator("tr[data-key]").locator("td").first()).toHaveText("12");
  await endpoints.getByRole("link").click();
  await expect(page.locator("[data-flame]")).toHaveAttribute("data-boxes", "2");

  await page.locator("label", { hasText: /^Difference$/ }).click();
  await page.getByRole("button", { name: "Before and after the pause" }).click();
  await expect(page.locator("[data-lead]")).toHaveText(
    "database Q grew most: from 30.0 ms to 0.250 s of its own a request (+0.220 s).",
  );
  const changes = page.getByRole("table", { name: "Changes" });
  await changes.locator('tr[data-key="database Q"]').getByRole("link").first().click();

  await expect(page).toHaveURL(/\/traces\/bb[0-9a-f]{30}$/);
  const path = page.getByRole("table", { name: "Spans of the critical path" });
  await expect(path.getByRole("row").nth(1)).toContainText("database Q");
  await expect(page.getByRole("region", { name: "Waterfall" })).toContainText("web GET /");
  await expect(page.getByRole("region", { name: "Threads meanwhile" })).toContainText("Not joined");
});
