/** How the page meets what people and their systems ask for: keys, less motion, own colours, paper. */

import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures/test";

/** What takes the focus by Tab, and which of it does not show that it has it. */
function focusStops(page: Page): Promise<{ names: string[]; unseen: string[] }> {
  return page.evaluate(() => {
    const outlined = (each: Element, pseudo?: string) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(each, pseudo);
      return outlineStyle !== "none" && Number.parseFloat(outlineWidth) > 0;
    };
    const names: string[] = [];
    const unseen: string[] = [];
    const stops = "a[href], button, input, select, summary, textarea, [tabindex]";
    for (const element of document.querySelectorAll<HTMLElement>(stops)) {
      if (element.tabIndex < 0 || element.matches(":disabled") || !element.checkVisibility())
        continue;
      element.focus();
      if (document.activeElement !== element) continue;
      const name = element.getAttribute("aria-label") ?? element.textContent?.trim() ?? "";
      names.push(name);
      const face = element.nextElementSibling;
      const shown =
        element.matches(":focus-visible") &&
        (outlined(element) ||
          outlined(element, "::after") ||
          (element.matches("input") && face !== null && outlined(face)));
      if (!shown) unseen.push(`${element.tagName} ${name}`);
    }
    return { names, unseen };
  });
}

test("each stop of the Tab key can be seen", async ({ watching }) => {
  const { page } = watching;
  // From here on the focus is that of the keyboard, and is shown.
  await page.keyboard.press("Tab");
  const { names, unseen } = await focusStops(page);
  expect(unseen).toEqual([]);
  for (const name of [/^Move: CPU$/, /^Table: CPU$/, /^Thread map of/, /^burner$/]) {
    expect(names).toContainEqual(expect.stringMatching(name));
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
  // A layer with nothing on it has no width.
  await expect.poll(async () => new Set((await widths()).filter(Boolean)).size).toBe(1);
  await page.emulateMedia({ media: "screen" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(page.getByRole("button", { name: "Pause" })).toBeVisible();
});
