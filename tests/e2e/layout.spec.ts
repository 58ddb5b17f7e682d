/** Layout, focus, motion, colours and paper: properties of the page that only a real browser knows. */

import type { Page } from "@playwright/test";
import { LivePage } from "./fixtures/livePage";
import { Program } from "./fixtures/programs";
import { DEMO_RUN, STEERED_RUN } from "./fixtures/runs";
import { expect, test } from "./fixtures/test";

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

const NO_MEDIA = { media: null, reducedMotion: null, forcedColors: null } as const;

/** Maximum sum of layout shifts. web.dev calls 0.1 good; a number that gains a digit shifts 0.0001. */
const MAX_SHIFT = 0.005;
const SETTLED_MS = 1000;
const WATCHED_MS = 4000;

/** Names of elements that take the focus by Tab, and of those whose focus is invisible. */
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

interface Shift {
  readonly value: number;
  /** Elements that moved, with the panel of each. */
  readonly places: readonly string[];
}

/** Layout shifts within some time that no input caused. */
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
        // Findings come and go with what other programs of the machine do.
        const isFinding = (node: Node | null) =>
          node instanceof Element && node.closest("[data-finding]") !== null;
        const observer = new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & {
            readonly value: number;
            readonly hadRecentInput: boolean;
            readonly sources: readonly { readonly node: Node | null }[];
          })[]) {
            const { value, sources, hadRecentInput } = entry;
            if (hadRecentInput || sources.every(({ node }) => isFinding(node))) continue;
            found.push({ value, places: sources.map(({ node }) => placeOf(node)) });
          }
        });
        observer.observe({ type: "layout-shift" });
        setTimeout(() => {
          observer.disconnect();
          resolve(found);
        }, watched_ms);
      }),
    ms,
  );
}

/** Expect nothing of the page beyond the right edge of the screen. */
async function expectNoneOutside(page: Page, message: string): Promise<void> {
  const outside = () =>
    page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
  await expect.poll(outside, message).toBeLessThanOrEqual(0);
}

test("the keyboard reaches the skip link, every page, and the help", async ({ signedIn }) => {
  await expect(signedIn.getByRole("table")).toBeVisible();
  await signedIn.keyboard.press("Tab");
  const skip = signedIn.getByRole("link", { name: "Skip to content" });
  await expect(skip).toBeFocused();
  await expect(skip).toBeInViewport();
  const pages = { d: "Doctor", h: "Hosts", r: "Runs", c: "Compare", l: "Attach to a process" };
  for (const [key, heading] of Object.entries(pages)) {
    await signedIn.keyboard.press("g");
    await signedIn.keyboard.press(key);
    await expect(signedIn.getByRole("heading", { name: heading, level: 1 })).toBeVisible();
  }
  await signedIn.keyboard.press("?");
  const help = signedIn.getByRole("dialog", { name: "Keyboard" });
  await expect(help).toContainText("Go to Doctor");
  await signedIn.keyboard.press("Escape");
  await expect(help).toBeHidden();
});

/** These tests share one live page, and each leaves it as it was. */
test.describe("a live page", () => {
  test.describe.configure({ mode: "default" });

  let program: Program;
  let live: LivePage;

  test.beforeAll(async ({ browser, shared }) => {
    program = await Program.start();
    const page = await browser.newPage({ viewport: DESKTOP, colorScheme: "dark" });
    live = new LivePage(page, shared);
    await live.attach(program.pid);
    await expect(page.locator("[data-chart=cpu]")).toHaveAttribute("data-state", "ok");
  });

  test.afterEach(async () => {
    await live.page.emulateMedia(NO_MEDIA);
    await live.page.setViewportSize(DESKTOP);
  });

  test.afterAll(async ({ shared }) => {
    await live.page.context().close();
    await program.kill();
    await shared.reset();
  });

  test("nothing jumps while values change", async () => {
    const { page } = live;
    // Panels and columns appear with the first samples.
    await expect.poll(async () => (await shifted(page, SETTLED_MS)).length).toBe(0);
    const shifts = await shifted(page, WATCHED_MS);
    const sum = shifts.reduce((before, { value }) => before + value, 0);
    expect(sum, JSON.stringify(shifts, null, 1)).toBeLessThan(MAX_SHIFT);
  });

  test("rows of tiles are equally full at any width, with the Steer drawer open and closed", async () => {
    const { page } = live;
    const tiles = page.getByRole("list", { name: "The process in numbers" });
    for (const drawer of ["closed", "open"]) {
      for (const width of [1440, 1280, 1100, 800, 390]) {
        await page.setViewportSize({ width, height: 900 });
        const ends = () =>
          tiles.evaluate((list) => {
            const rows = new Map<number, number>();
            for (const tile of list.children) {
              const { top, right } = tile.getBoundingClientRect();
              rows.set(top, Math.max(right, rows.get(top) ?? 0));
            }
            const edge = list.getBoundingClientRect().right;
            return [...new Set([...rows.values()].map((right) => Math.round(edge - right)))];
          });
        // A busy machine delays the resize event that changes the layout.
        await expect.poll(ends, `${width} px, drawer ${drawer}`).toEqual([1]);
      }
      await page.setViewportSize(DESKTOP);
      await page.getByRole("button", { name: "Steer", exact: true }).click();
    }
  });

  test("the default columns of the thread table, network and code included, fit into 1,440 pixels", async () => {
    const { page } = live;
    await page.getByRole("button", { name: "Take stacks", exact: true }).click();
    const table = page.getByRole("region", { name: "Threads" }).getByRole("table");
    await expect(table.getByRole("columnheader", { name: /^Network sent/ })).toBeVisible();
    await expect(table.getByRole("columnheader", { name: /^Code/ })).toBeVisible();
    const hidden = await table.evaluate((element) => {
      const frame = element.parentElement;
      return frame === null ? Number.NaN : frame.scrollWidth - frame.clientWidth;
    });
    expect(hidden).toBe(0);
    const cut = await table
      .locator("thead button > *")
      .evaluateAll((labels) =>
        labels
          .filter(
            (each) => each.scrollWidth > each.clientWidth || each.scrollHeight > each.clientHeight,
          )
          .map((each) => each.textContent),
      );
    expect(cut).toEqual([]);
    await page.getByRole("button", { name: "Stop taking stacks" }).click();
  });

  test("nothing moves by itself for who wants no motion", async () => {
    const { page } = live;
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
    await expect(page.getByRole("button", { name: "Record", exact: true })).toBeVisible();
  });

  test("colours that mean something stay where the system has its own", async () => {
    const { page } = live;
    await page.emulateMedia({ forcedColors: "active" });
    const swatch = page
      .getByRole("list", { name: /^Colours of states/ })
      .locator("[style]")
      .first();
    const asked = await swatch.evaluate((each) => (each as HTMLElement).style.backgroundColor);
    expect(asked).toMatch(/^rgb/);
    await expect(swatch).toHaveCSS("background-color", asked);
  });

  test("on paper charts are on white, as wide as the sheet, and nothing is there to press", async () => {
    const { page } = live;
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
    await page.keyboard.press("Escape");
    await expect(drawer).toBeHidden();
  });

  test("each stop of the Tab key can be seen", async () => {
    const { page } = live;
    // The first Tab makes the focus that of the keyboard, which is drawn.
    await page.keyboard.press("Tab");
    const { names, unseen } = await focusStops(page);
    expect(unseen).toEqual([]);
    for (const name of [/^Move: CPU$/, /^Table: CPU$/, /^Thread map of/, /^burner$/]) {
      expect(names).toContainEqual(expect.stringMatching(name));
    }
  });

  test("a live target fits a phone, with map, table and Steer drawer", async () => {
    const { page } = live;
    await page.setViewportSize(PHONE);
    await page.reload();
    await expect(page.locator("[data-chart=cpu]")).toHaveAttribute("data-state", "ok");
    await expect(page.locator("[data-map]")).toHaveAttribute("data-columns", /[1-9]/);
    const threads = page.getByRole("region", { name: "Threads" });
    await expect(threads.getByRole("row").nth(1)).toBeAttached();
    await expectNoneOutside(page, "live target");
    await page.getByRole("button", { name: "Steer", exact: true }).click();
    await expect(page.getByRole("dialog", { name: "Steer" })).toBeVisible();
    await expectNoneOutside(page, "Steer drawer");
    await page.keyboard.press("Escape");
  });

  // The last one: it leaves the live target.
  test("no page is wider than the screen, on a phone or a monitor", async ({ shared }) => {
    const { page } = live;
    const runs = [await shared.importedRun(DEMO_RUN), await shared.importedRun(STEERED_RUN)];
    const address = new URL(page.url());
    const pages = {
      [`${address.pathname}${address.search}`]: "[data-chart=cpu][data-state=ok]",
      "/": "[data-pid]",
      "/doctor": "[data-check]",
      "/runs": "[data-run]",
      [`/runs/${runs[0]}`]: "[data-reading=ready]",
      [`/runs/${runs[1]}`]: "[data-reading=ready]",
      [`/compare?runs=${runs.join()}`]: "[data-metric]",
    };
    for (const [path, ready] of Object.entries(pages)) {
      await page.goto(`${shared.url}${path}`);
      await expect(page.locator(ready).first()).toBeAttached();
      for (const width of [390, 1440]) {
        await page.setViewportSize({ width, height: 844 });
        await expectNoneOutside(page, `${path} at ${width} pixels`);
      }
    }
  });
});
