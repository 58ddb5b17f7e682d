import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { OUTPUT } from "./fixtures/processes";
import { expect, test } from "./fixtures/test";
import { startWakers } from "./fixtures/wakers";

const panel = (page: Page): Locator => page.locator("[data-panel=map]");
const map = (page: Page): Locator => page.locator("[data-map]");

/** Bring the map into sight and wait until it has so many columns. */
async function showMap(page: Page, columns: number): Promise<void> {
  await panel(page).evaluate((element) => element.scrollIntoView({ block: "center" }));
  await expect
    .poll(async () => Number(await map(page).getAttribute("data-columns")))
    .toBeGreaterThanOrEqual(columns);
}

/** A point of the map: shares of its width and height. */
async function pointAt(page: Page, across: number, down: number): Promise<[number, number]> {
  const box = await map(page).boundingBox();
  if (box === null) {
    throw new Error("the map is not in sight");
  }
  return [box.x + box.width * across, box.y + box.height * down];
}

/** The plot lies so far within the map; see charts/map_plot.ts. */
const LEFT_PX = 150;
const RIGHT_PX = 26;
/** Length of the time axis at first. */
const WINDOW_S = 60;

/** A point of the map so long before its right end. */
async function pointSecondsAgo(page: Page, ago_s: number, down: number): Promise<[number, number]> {
  const [right, y] = await pointAt(page, 1, down);
  const [left] = await pointAt(page, 0, down);
  const end = right - RIGHT_PX;
  return [end - ((end - left - LEFT_PX) * ago_s) / WINDOW_S, y];
}

const tooltip = (page: Page): Locator => map(page).locator(".chart-tooltip");

test("shows every thread by role, and says so in words", async ({ watching }) => {
  const { page } = watching;
  await showMap(page, 5);
  await expect(map(page)).toHaveAttribute("data-rows", "13");
  await expect(map(page)).toHaveAttribute("aria-label", /On-CPU time.*13 threads.*worker-# 6/);
  await expect(panel(page)).toContainText("13 threads");
  await expect(panel(page).getByRole("img", { name: /^Colours, logarithmic, from/ })).toBeVisible();
});

test("is drawn while it is scrolled out of view, so that a print shows it", async ({
  watching,
}) => {
  const { page } = watching;
  await expect(map(page)).not.toBeInViewport();
  await expect
    .poll(async () => Number(await map(page).getAttribute("data-columns")))
    .toBeGreaterThanOrEqual(5);
});

test("hover names thread, time and value; a click selects the thread everywhere", async ({
  watching,
}) => {
  const { page } = watching;
  // Two seconds of samples: a second ago there is one, however fast the machine is.
  await showMap(page, 20);
  await page.keyboard.press("Space");
  const [x, y] = await pointSecondsAgo(page, 1, 0.3);
  await page.mouse.move(x, y);
  await expect(tooltip(page)).toBeVisible();
  await expect(tooltip(page)).toContainText(/\d\d:\d\d:\d\d\.\d{3}/);
  await expect(tooltip(page)).toContainText(/[\w-]+ \(\d+\)/);
  await expect(tooltip(page)).toContainText(/\d cores/);
  const name = /([a-z_]+(?:-\d)?) \(\d+\)/.exec((await tooltip(page).textContent()) ?? "")?.[1];
  await page.mouse.click(x, y);
  await expect(watching.row(name ?? "")).toHaveAttribute("data-selected", "true");
  await expect(
    watching.panel("cpu").getByRole("button", { name: new RegExp(name ?? "-") }),
  ).toHaveAttribute("aria-pressed", "true");
});

test("arrow keys move a cursor that is read out; Enter selects", async ({ watching }) => {
  const { page } = watching;
  await showMap(page, 10);
  await page.keyboard.press("Space");
  await map(page).focus();
  const said = panel(page).getByRole("status").or(panel(page).locator("[data-map-said]"));
  await page.keyboard.press("ArrowDown");
  await expect(said).toContainText(/steady_work \(\d+\), \d\d:\d\d:\d\d\.\d{3}: /);
  const first = await said.textContent();
  await page.keyboard.press("ArrowLeft");
  await expect(said).not.toHaveText(first ?? "");
  await page.keyboard.press("ArrowDown");
  await expect(said).not.toContainText("steady_work");
  const name = /^(\S+) \(/.exec((await said.textContent()) ?? "")?.[1] ?? "";
  await page.keyboard.press("Enter");
  await expect(watching.row(name)).toHaveAttribute("data-selected", "true");
});

test("any field is the colour, absent ones say why, those kept late say since when", async ({
  watching,
}) => {
  const { page } = watching;
  await showMap(page, 5);
  const field = panel(page).getByRole("combobox", { name: "Colour" });
  await field.selectOption({ label: "Disk written" });
  await expect(map(page)).toHaveAttribute("data-map", "disk_write_bytes");
  await expect(panel(page)).toContainText("bytes per second");
  await field.selectOption({ label: "Minor page faults" });
  await expect(panel(page)).toContainText(/kept since it was chosen, \d\d:\d\d:\d\d/);
});

test("shares the time axis, and is still while paused", async ({ watching }) => {
  const { page } = watching;
  await showMap(page, 20);
  const [x, y] = await pointAt(page, 0.9, 0.3);
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 40, y, { steps: 4 });
  await page.mouse.up();
  await expect(page.getByRole("button", { name: /Zoomed to .* back to live/ })).toBeVisible();
  await page.getByRole("button", { name: /back to live/ }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByText("Paused. Sampling continues.")).toBeVisible();
  await watching.frames(5);
  await showMap(page, 5);
  const before = await map(page).getAttribute("data-columns");
  await watching.frames(15);
  expect(await map(page).getAttribute("data-columns")).toBe(before);
});

test("exited threads are listed with their final totals", async ({ signedIn }) => {
  await signedIn.getByRole("button", { name: "Start the demo" }).click();
  const threads = signedIn.getByRole("region", { name: "Threads" });
  await threads.getByText("Exited", { exact: true }).click();
  const row = threads.locator("[data-thread-state=exited]").first();
  await expect(row).toContainText(/task-\d+/);
  // Each burns 5 ms of CPU time, which its exit record tells to the nanosecond.
  await expect(row.locator('[data-column="total:cpu_run_ns"]')).toHaveText(/0\.0[01]/);
  await expect(threads.locator("[data-thread-state=live]")).toHaveCount(0);
  await threads.getByText("All", { exact: true }).click();
  await expect(threads.locator("[data-thread-state=live]").first()).toBeVisible();
  await signedIn.getByRole("button", { name: "Stop the demo" }).click();
});

test("5,000 threads share rows, and the page keeps up", async ({ signedIn, site }) => {
  test.setTimeout(180_000);
  const wakers = await startWakers(5000);
  try {
    await signedIn.goto(`${site.url}/?pid=${wakers.pid}`);
    await expect(signedIn.locator('[data-tile="threads"]')).toContainText("5\u202f000");
    await showMap(signedIn, 60);
    await expect(panel(signedIn)).toContainText("5000 threads");
    await expect(panel(signedIn)).toContainText(/up to \d+ share a row, which shows the highest/);
    expect(Number(await map(signedIn).getAttribute("data-rows"))).toBeLessThanOrEqual(400);
    await signedIn.mouse.move(...(await pointAt(signedIn, 0.85, 0.5)));
    await expect(tooltip(signedIn)).toContainText(/highest of the \d+ threads in this row/);
    for (const size of [
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ]) {
      await signedIn.setViewportSize(size);
      for (const colorScheme of ["light", "dark"] as const) {
        await signedIn.emulateMedia({ colorScheme });
        await expect(signedIn.locator("html")).toHaveAttribute("data-theme", colorScheme);
        await showMap(signedIn, 20);
        const file = `map-5000-${colorScheme}-${size.width}.png`;
        await signedIn.screenshot({ path: join(OUTPUT, "screenshots", file) });
      }
      const outside = () =>
        signedIn.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
      await expect.poll(outside).toBeLessThanOrEqual(0);
    }
  } finally {
    await wakers.stop();
  }
});
