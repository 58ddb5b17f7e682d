/** Pictures of README.md and docs/gallery.md, drawn from the same checked-in runs each time. */

import type { Page } from "@playwright/test";
import { painted, played, writeImage } from "../fixtures/images";
import { DEMO_RUN, GALLERY_PROGRAMS, galleryRun } from "../fixtures/runs";
import type { Stack } from "../fixtures/stack";
import { expect, test } from "../fixtures/test";

const MOVING_SIZE = { width: 1280, height: 1080 };
const MOVING = { frame_ms: 300, last_ms: 1500, quality: 70 };
/** Part of a run's page that the gallery shows. */
const TALL = { width: 1440, height: 1500 };

/** Import a run, open a tab of it, and wait until it is read. */
async function openRun(page: Page, stack: Stack, file: string, tab = "summary"): Promise<void> {
  await page.goto(`${stack.url}/runs/${await stack.importRun(file)}?tab=${tab}`);
  await expect(page.locator("[data-reading]")).toHaveAttribute("data-reading", "ready");
  await expect(page.locator("[data-chart]").first()).toHaveAttribute("data-state", "ok");
}

/** Wait until numbers and findings no longer change. */
async function rested(page: Page): Promise<void> {
  let before = "";
  await expect
    .poll(
      async () => {
        const last = before;
        before = await page.locator("main").innerText();
        return before === last;
      },
      { intervals: [1500] },
    )
    .toBe(true);
}

test("README: a run as it goes", async ({ signedIn: page, stack }) => {
  await page.setViewportSize(MOVING_SIZE);
  await openRun(page, stack, DEMO_RUN);
  const journey = { window: 0.35, from: 0.1, to: 0.5, frames: 20 } as const;
  writeImage("run-dark", await played(page, null, journey), MOVING);
});

test("README: a pool, and a policy that sizes it", async ({ signedIn: page, stack }) => {
  await page.setViewportSize({ ...MOVING_SIZE, height: 1900 });
  await openRun(page, stack, DEMO_RUN, "pools");
  const size = page.locator("[data-panel=gomaxprocs]");
  await expect(size.locator("[data-chart=gomaxprocs]")).toHaveAttribute("data-state", "ok");
  const journey = { window: 0.5, from: 0, to: 0.5, frames: 20 } as const;
  writeImage("steering-dark", await played(page, size, journey), MOVING);
});

for (const name of GALLERY_PROGRAMS) {
  test(`the gallery: ${name}`, async ({ signedIn: page, stack }) => {
    await page.setViewportSize(TALL);
    await openRun(page, stack, galleryRun(name));
    await page.mouse.move(0, 0);
    await rested(page);
    await painted(page);
    writeImage(`gallery/${name}`, [await page.screenshot()]);
  });
}
