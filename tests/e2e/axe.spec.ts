/** Accessibility rules that a program can check, on every page and in its states. */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import type { LivePage } from "./fixtures/livePage";
import { ROOT } from "./fixtures/processes";
import { startLockWork } from "./fixtures/programs";
import { DEMO_RUN, STEERED_RUN } from "./fixtures/runs";
import { expect, test } from "./fixtures/test";

const AXE = readFileSync(join(ROOT, "node_modules/axe-core/axe.min.js"), "utf8");
const ALL_RULES = {
  type: "tag",
  values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
};
/** Rules whose result depends on the theme. */
const COLOUR_RULES = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1440, height: 900 };

/** Broken rules, each with its number of elements and the first element that breaks it. */
async function violations(page: Page, runOnly = ALL_RULES): Promise<readonly string[]> {
  // Without preloading, axe-core runs in one task: a live page cannot change while it measures.
  const options = { resultTypes: ["violations"], runOnly, preload: false };
  // The library is evaluated as an expression, since the page's policy refuses inline scripts.
  await page.evaluate(AXE);
  // Labels of charts slide past each other, and are then too close for a finger.
  const found: { violations: { id: string; nodes: { html: string }[] }[] } = await page.evaluate(
    `(async () => {
      const moving = () =>
        document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime < Infinity);
      while (moving().length > 0) {
        await Promise.allSettled(moving().map(({ finished }) => finished));
      }
      return axe.run(document, ${JSON.stringify(options)});
    })()`,
  );
  return found.violations.map(({ id, nodes }) => `${id} ×${nodes.length}: ${nodes[0]?.html}`);
}

/** Switch the theme, and wait until the page has it. */
async function showTheme(page: Page, colorScheme: "dark" | "light"): Promise<void> {
  await page.emulateMedia({ colorScheme });
  await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
}

/** Expect no violation in either theme. */
async function expectNone(page: Page, what: string): Promise<void> {
  await showTheme(page, "dark");
  expect(await violations(page), `${what}, dark`).toEqual([]);
  await showTheme(page, "light");
  expect(await violations(page, COLOUR_RULES), `${what}, light`).toEqual([]);
}

test("pages break no rule, in either theme", async ({ signedIn, stack }) => {
  await expect(signedIn.locator("[data-interest]").first()).toBeVisible();
  await expectNone(signedIn, "start");
  await signedIn.keyboard.press("?");
  await expect(signedIn.getByRole("dialog")).toBeVisible();
  await expectNone(signedIn, "keys");
  for (const path of ["runs", "compare", "experiments", "traces", "doctor", "nowhere"]) {
    await signedIn.goto(`${stack.url}/${path}`);
    await expect(signedIn.getByRole("heading", { level: 1 })).toBeVisible();
    await expectNone(signedIn, path);
  }
});

/** Drag over the middle of a chart, and wait until it shows that part. */
async function brush(page: Page, chart: string): Promise<void> {
  const zoomed = page.getByRole("button", { name: /Zoomed to .* back to live/ });
  // A panel above that grows moves the chart away from the pointer.
  await expect(async () => {
    await drag(page, chart);
    await expect(zoomed).toBeVisible({ timeout: 5000 });
  }).toPass();
}

async function drag(page: Page, chart: string): Promise<void> {
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

/** Violations in each state of a live page. States are combined, since each check takes seconds. */
async function statesOf(live: LivePage): Promise<Record<string, readonly string[]>> {
  const { page } = live;
  const found: Record<string, readonly string[]> = {};
  found["as opened"] = await violations(page);
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
  await showTheme(page, "light");
  found["a role opened, tables, a thread, light"] = await violations(page);
  await page.keyboard.press("s");
  await expect(page.getByRole("dialog", { name: "Steer" })).toBeVisible();
  await page.locator("[data-fold]").first().click();
  await brush(page, "cpu_total");
  await page.keyboard.press("b");
  await expect(page.locator("[data-panel=change]")).toBeVisible();
  // A button half below the sticky header counts as too small for a finger.
  await page.evaluate(() => document.scrollingElement?.scrollTo(0, 0));
  found["Steer, a panel folded, a window"] = await violations(page);
  await page.setViewportSize(PHONE);
  found["Steer on a phone"] = await violations(page);
  return found;
}

test("a live page breaks no rule in any of its states", async ({ watching, stack }) => {
  const { page } = watching;
  const found = await statesOf(watching);
  expect(found).toEqual(Object.fromEntries(Object.keys(found).map((state) => [state, []])));
  await page.setViewportSize(DESKTOP);
  await page.getByRole("button", { name: "Detach" }).click();
  await expect(page.getByText("Detached", { exact: true })).toBeVisible();
  await stack.killBackend();
  try {
    await expect(page.getByText("Connection to the backend lost")).toBeVisible();
    expect(await violations(page), "ended and disconnected").toEqual([]);
  } finally {
    await stack.startBackend();
  }
});

test("flame graphs break no rule, in either theme and size", async ({ page, stack }) => {
  const program = await startLockWork();
  try {
    await page.goto(stack.signingIn(`/?pid=${program.pid}&tab=all`));
    await expect(page.locator('[data-state="live"]').first()).toBeVisible();
    const target = new URL(page.url()).searchParams.get("target");
    await page.goto(`${stack.url}/stacks?target=${target}&lock=1&name=pool_mu`);
    // With stacks or a reason why there are none.
    await expect(page.locator("[data-flame], [data-reason]")).toHaveCount(2);
    await expectNone(page, "a lock's stacks");
    await page.setViewportSize(PHONE);
    expect(await violations(page), "on a phone").toEqual([]);
    await page.goto(`${stack.url}/stacks?target=${target}&against=before`);
    await expect(page.locator("[data-flame], [data-reason]")).toHaveCount(1);
    expect(await violations(page), "a difference").toEqual([]);
  } finally {
    await program.stop();
  }
});

for (const [name, file] of Object.entries({ demo: DEMO_RUN, steered: STEERED_RUN })) {
  test(`a run breaks no rule: ${name}`, async ({ page, stack }) => {
    await page.goto(stack.signingIn(`/runs/${await stack.importedRun(file)}?tab=all`));
    await expect(page.locator("[data-reading]")).toHaveAttribute("data-reading", "ready");
    expect(await violations(page)).toEqual([]);
  });
}
