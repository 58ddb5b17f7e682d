/** Rules of accessibility that a program can check, on Live and a run, in their states. */

import type { Page } from "@playwright/test";
import { violations } from "./fixtures/axe";
import type { LivePage } from "./fixtures/livePage";
import { DEMO_RUN, STEERED_RUN } from "./fixtures/runs";
import { expect, test } from "./fixtures/test";

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1440, height: 900 };

/** Drag over the middle of a chart. */
async function brush(page: Page, chart: string): Promise<void> {
  const plot = page.locator(`[data-chart=${chart}]`);
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  if (box === null) throw new Error(`${chart} is not on the page`);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + 0.45 * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.7 * box.width, y, { steps: 4 });
  await page.mouse.up();
}

/** What each state of a live page breaks; each look takes seconds, so that states come together. */
async function statesOf(live: LivePage): Promise<Record<string, readonly string[]>> {
  const { page } = live;
  const found: Record<string, readonly string[]> = {};
  found.usual = await violations(page);
  await live
    .panel("cpu")
    .getByRole("button", { name: /^worker-#/ })
    .click();
  await expect(live.panel("cpu")).toContainText("threads of worker-#");
  for (const title of ["CPU", "Thread map", "Where the time goes"]) {
    await page.getByRole("button", { name: `Table: ${title}`, exact: true }).click();
  }
  await expect(page.getByRole("table", { name: "CPU", exact: true })).toBeVisible();
  await live.row("burner").getByRole("button", { name: "burner", exact: true }).click();
  await expect(page.locator("[data-panel=thread]")).toBeVisible();
  await page.emulateMedia({ colorScheme: "light" });
  found["a role opened, tables, a thread, light"] = await violations(page);
  await page.keyboard.press("s");
  await expect(page.getByRole("dialog", { name: "Steer" })).toBeVisible();
  await page.locator("[data-fold]").first().click();
  await brush(page, "cpu_total");
  await expect(page.getByRole("button", { name: /Zoomed to .* back to live/ })).toBeVisible();
  await page.keyboard.press("b");
  await expect(page.locator("[data-panel=change]")).toBeVisible();
  // Half below what stays at the top, a button is too small for a finger, but not for long.
  await page.evaluate(() => document.scrollingElement?.scrollTo(0, 0));
  found["Steer, a panel folded, a window"] = await violations(page);
  await page.setViewportSize(PHONE);
  found["Steer on a phone"] = await violations(page);
  return found;
}

test("a live page breaks no rule in any of its states", async ({ watching, site }) => {
  test.setTimeout(300_000);
  const { page } = watching;
  const found = await statesOf(watching);
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((state) => [state, []])));
  await page.setViewportSize(DESKTOP);
  await page.getByRole("button", { name: "Detach" }).click();
  await expect(page.getByText("Detached", { exact: true })).toBeVisible();
  await site.killBackend();
  try {
    await expect(page.getByText("Connection to the backend lost")).toBeVisible();
    expect(await violations(page), "ended and disconnected").toEqual([]);
  } finally {
    await site.startBackend();
  }
});

for (const [name, file] of Object.entries({ demo: DEMO_RUN, steered: STEERED_RUN })) {
  test(`a run breaks no rule: ${name}`, async ({ signedIn: page, site }) => {
    const run = await site.importRun(file);
    await page.goto(`${site.url}/runs/${run}`);
    await expect(page.locator("[data-reading]")).toHaveAttribute("data-reading", "ready");
    expect(await violations(page)).toEqual([]);
    await site.deleteRun(run);
  });
}
