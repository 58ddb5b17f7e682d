/** How the page meets what people and their systems ask for: keys, less motion, own colours, paper. */

import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures/test";

/** Where the focus is and whether it can be seen; null: nowhere. */
function focusStop(page: Page): Promise<{ name: string; seen: boolean } | null> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) return null;
    const outlined = (each: Element, pseudo?: string) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(each, pseudo);
      return outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0;
    };
    const face = element.nextElementSibling;
    const shown =
      outlined(element) ||
      outlined(element, "::after") ||
      (element.matches("input") && face !== null && outlined(face));
    const box = element.getBoundingClientRect();
    const inView = box.bottom > 0 && box.top < innerHeight;
    const text = element.getAttribute("aria-label") ?? element.textContent?.trim().slice(0, 40);
    return { name: `${element.tagName} ${text}`, seen: shown && inView };
  });
}

test("each stop of the Tab key is in view and can be seen", async ({ watching }) => {
  const { page } = watching;
  await page.getByRole("button", { name: "Pause" }).click();
  await page.evaluate(() => (document.activeElement as HTMLElement).blur());
  const unseen: string[] = [];
  const names: string[] = [];
  // From the top to the end of the page, and out of it.
  for (let n = 0; n < 400; n++) {
    await page.keyboard.press("Tab");
    const stop = await focusStop(page);
    if (stop === null) break;
    names.push(stop.name);
    if (!stop.seen) unseen.push(stop.name);
  }
  expect(unseen).toEqual([]);
  for (const name of [/Move: CPU/, /Table: CPU/, /Thread map of/, /burner/]) {
    expect(names.filter((each) => name.test(each))).not.toEqual([]);
  }
});

test("nothing moves by itself for who wants no motion", async ({ watching: { page } }) => {
  const moving = () =>
    page.evaluate(
      () => document.getAnimations().filter(({ playState }) => playState === "running").length,
    );
  await page.getByRole("button", { name: "Record", exact: true }).click();
  await expect(page.getByRole("button", { name: /^Stop recording/ })).toBeVisible();
  await expect.poll(moving).toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: "reduce" });
  await expect.poll(moving).toBe(0);
  await page.getByRole("button", { name: /^Stop recording/ }).click();
});

test("colours that mean something stay where the system has its own", async ({
  watching: { page },
}) => {
  await page.emulateMedia({ forcedColors: "active" });
  const swatch = page
    .getByRole("list", { name: /^Colours of states/ })
    .locator("[style]")
    .first();
  const asked = await swatch.evaluate((each) => (each as HTMLElement).style.backgroundColor);
  expect(asked).toMatch(/^rgb/);
  await expect(swatch).toHaveCSS("background-color", asked);
});

test("on paper charts are on white, as wide as the sheet, and nothing is there to press", async ({
  watching: { page },
}) => {
  await page.keyboard.press("s");
  const drawer = page.getByRole("dialog", { name: "Steer" });
  await expect(drawer).toBeVisible();
  await page.emulateMedia({ media: "print" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", "light");
  await expect(drawer).toBeHidden();
  for (const name of ["Pause", "Record", "Move: CPU", "Table: CPU"]) {
    await expect(page.getByRole("button", { name, exact: true })).toBeHidden();
  }
  const chart = page.locator("[data-chart=cpu]");
  await expect(chart).toBeVisible();
  const widths = () =>
    chart.evaluate((each) => [
      each.clientWidth,
      ...Array.from(each.querySelectorAll("canvas"), (canvas) => canvas.clientWidth),
    ]);
  await expect.poll(async () => new Set(await widths()).size).toBe(1);
  await page.emulateMedia({ media: "screen" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(page.getByRole("button", { name: "Pause" })).toBeVisible();
});
