/** How soon the page is there, how much of it is loaded for that, and that nothing in it jumps. */

import { gzipSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures/test";

const FIRST_ROUTE_BYTES = 350 * 1024;
const FIRST_PAINT_MS = 1000;
/** Other tests run beside: the best of a few says what the page itself takes. */
const LOADS = 4;
const WATCHED_MS = 4000;

/** When something could be read for the first time, milliseconds after the request. */
async function firstPaint(page: Page): Promise<number> {
  return page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN,
  );
}

test("the first route is painted within a second, and is at most 350 KiB packed", async ({
  signedIn: page,
  site,
}) => {
  const bodies = new Map<string, Promise<Buffer>>();
  page.on("response", (response) => {
    const { pathname } = new URL(response.url());
    const asked = response.request().resourceType();
    if (["document", "script", "stylesheet", "font"].includes(asked)) {
      bodies.set(pathname, response.body());
    }
  });
  const paints: number[] = [];
  for (let load = 0; load < LOADS; load++) {
    await page.goto(site.url);
    await expect(page.locator("[data-pid]").first()).toBeVisible();
    paints.push(await firstPaint(page));
  }
  expect(Math.min(...paints), `first paints ${paints.map(Math.round)}`).toBeLessThan(
    FIRST_PAINT_MS,
  );
  const sizes = new Map<string, number>();
  for (const [path, body] of bodies) sizes.set(path, gzipSync(await body).length);
  expect(sizes.size).toBeGreaterThan(2);
  const whole = [...sizes.values()].reduce((sum, size) => sum + size, 0);
  expect(whole, JSON.stringify(Object.fromEntries(sizes))).toBeLessThan(FIRST_ROUTE_BYTES);
});

/** Good is below 0.1 (web.dev, Cumulative Layout Shift); numbers that grow by a digit are 0.0001. */
const MAX_SHIFT = 0.005;

interface Shift {
  readonly value: number;
  /** Panels that what moved is in. */
  readonly places: readonly string[];
}

/** What moved within some time without anybody having pressed something. */
async function shifted(page: Page, ms: number): Promise<readonly Shift[]> {
  return page.evaluate(
    (watched_ms) =>
      new Promise<Shift[]>((resolve) => {
        const found: Shift[] = [];
        const placeOf = (node: Node | null) => {
          const element = node instanceof Element ? node : node?.parentElement;
          const panel = element?.closest("[data-panel],[data-tile]");
          return `${panel?.outerHTML.slice(0, 60)} ${element?.outerHTML.slice(0, 60)}`;
        };
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & {
            readonly value: number;
            readonly hadRecentInput: boolean;
            readonly sources: readonly { readonly node: Node | null }[];
          })[]) {
            const { value, sources, hadRecentInput } = entry;
            if (hadRecentInput) continue;
            found.push({ value, places: sources.map(({ node }) => placeOf(node)) });
          }
        });
        observer.observe({ type: "layout-shift" });
        setTimeout(() => resolve(found), watched_ms);
      }),
    ms,
  );
}

test("nothing jumps while values change", async ({ watching: { page } }) => {
  // Panels and columns come with the first samples; then they stay.
  await expect(page.locator("[data-chart=cpu]")).toHaveAttribute("data-state", "ok");
  await shifted(page, 3000);
  const shifts = await shifted(page, WATCHED_MS);
  const sum = shifts.reduce((before, { value }) => before + value, 0);
  expect(sum, JSON.stringify(shifts, null, 1)).toBeLessThan(MAX_SHIFT);
});
