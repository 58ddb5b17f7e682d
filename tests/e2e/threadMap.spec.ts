import type { Locator, Page } from "@playwright/test";
import { startWakers } from "./fixtures/programs";
import { expect, test } from "./fixtures/test";

const panel = (page: Page): Locator => page.locator("[data-panel=map]");
const map = (page: Page): Locator => page.locator("[data-map]");

async function columns(page: Page): Promise<number> {
  return Number(await map(page).getAttribute("data-columns"));
}

/** Scroll to the map and wait until it has a number of columns. */
async function showMap(page: Page, least: number): Promise<void> {
  await panel(page).evaluate((element) => element.scrollIntoView({ block: "center" }));
  await expect.poll(() => columns(page)).toBeGreaterThanOrEqual(least);
}

/** Point of the map by shares of its width and height. */
async function pointAt(page: Page, across: number, down: number): Promise<[number, number]> {
  const box = await map(page).boundingBox();
  if (box === null) {
    throw new Error("the map is not in sight");
  }
  return [box.x + box.width * across, box.y + box.height * down];
}

/** Margins of the plot within the map; see features/map/mapPlot.ts. */
const LEFT_PX = 150;
const RIGHT_PX = 26;
/** Minimum length of the time axis, which grows with the data. */
const WINDOW_S = 10;

/** Point of the map at a time before its right end. */
async function pointSecondsAgo(page: Page, ago_s: number, down: number): Promise<[number, number]> {
  const [right, y] = await pointAt(page, 1, down);
  const [left] = await pointAt(page, 0, down);
  const end = right - RIGHT_PX;
  return [end - ((end - left - LEFT_PX) * ago_s) / WINDOW_S, y];
}

const tooltip = (page: Page): Locator => map(page).locator(".chart-tooltip");

/** Times before the right end at which the pointer looks for a sample: a busy machine has gaps. */
const AGES_S = [1, 0.33, 0.6, 1.5, 2, 3] as const;

/** Point at a cell whose tooltip has a text; the point, for a press. */
async function pointAtCell(page: Page, down: number, text: RegExp): Promise<[number, number]> {
  let turn = 0;
  let point: [number, number] = [0, 0];
  await expect(async () => {
    point = await pointSecondsAgo(page, AGES_S[turn++ % AGES_S.length] ?? 1, down);
    await page.mouse.move(...point);
    await expect(tooltip(page)).toContainText(text, { timeout: 1000 });
    await expect(tooltip(page)).toBeVisible({ timeout: 1000 });
  }).toPass();
  return point;
}

test("hover names thread, time and value; a click selects the thread everywhere", async ({
  watching,
}) => {
  const { page } = watching;
  await page.getByRole("combobox", { name: "Colour" }).selectOption("cpu_run_ns");
  // Two seconds of samples.
  await showMap(page, 20);
  await page.keyboard.press("Space");
  // Findings above the map may have come before the page was still.
  await showMap(page, 20);
  const [x, y] = await pointAtCell(page, 0.3, /\d m?cores/);
  await expect(tooltip(page)).toContainText(/\d\d:\d\d:\d\d\.\d{3}/);
  await expect(tooltip(page)).toContainText(/[\w-]+ \(\d+\)/);
  const name = /([a-z_]+(?:-\d)?) \(\d+\)/.exec((await tooltip(page).textContent()) ?? "")?.[1];
  await page.mouse.click(x, y);
  await expect(watching.row(name ?? "")).toHaveAttribute("data-selected", "true");
  await expect(
    watching.panel("cpu").getByRole("button", { name: new RegExp(name ?? "-") }),
  ).toHaveAttribute("aria-pressed", "true");
});

test("shares the time axis, and is still while paused", async ({ watching }) => {
  const { page } = watching;
  await showMap(page, 20);
  const zoomed = page.getByRole("button", { name: /Zoomed to .* back to live/ });
  // A panel above that grows moves the map away from the pointer.
  await expect(async () => {
    const [x, y] = await pointAt(page, 0.9, 0.3);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 40, y, { steps: 4 });
    await page.mouse.up();
    await expect(zoomed).toBeVisible({ timeout: 5000 });
  }).toPass();
  await page.getByRole("button", { name: /back to live/ }).click();
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByText("Paused. Sampling continues.")).toBeVisible();
  // A frame that was in flight when the button was pressed may still be drawn.
  await expect(async () => {
    const before = await columns(page);
    await watching.frames(15);
    expect(await columns(page)).toBe(before);
  }).toPass();
});

test("5,000 threads share rows, and the page keeps up", async ({ page, stack }) => {
  const wakers = await startWakers(5000);
  try {
    await page.goto(stack.signingIn(`/?pid=${wakers.pid}&tab=all`));
    await expect(page.locator('[data-tile="threads"]')).toContainText("5\u202f000");
    await showMap(page, 40);
    await expect(panel(page)).toContainText("5\u202f000 threads");
    await page.getByRole("combobox", { name: "Colour" }).selectOption("cpu_run_ns");
    await expect(panel(page)).toContainText(/up to \d+ per row, highest shown/);
    expect(Number(await map(page).getAttribute("data-rows"))).toBeLessThanOrEqual(400);
    await pointAtCell(page, 0.5, /highest of the \d+ threads in this row/);
    for (const size of [
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ]) {
      await page.setViewportSize(size);
      await showMap(page, 20);
      const outside = () =>
        page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
      await expect.poll(outside).toBeLessThanOrEqual(0);
    }
  } finally {
    await wakers.stop();
  }
});
