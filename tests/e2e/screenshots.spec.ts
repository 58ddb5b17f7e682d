/** Pictures of every state, for people to look at, and a check that nothing sticks out. */

import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { canSwitch, switched } from "./fixtures/delaySwitch";
import { LivePage } from "./fixtures/livePage";
import { OUTPUT } from "./fixtures/processes";
import { Program } from "./fixtures/program";
import { Site } from "./fixtures/site";
import { GO, Steered } from "./fixtures/steered";
import { expect, test } from "./fixtures/test";
import { TimeParts } from "./fixtures/timeParts";

const SIZES = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
] as const;
const SCHEMES = ["light", "dark"] as const;

/** Take the page in both sizes and both themes. */
async function take(page: Page, name: string, at?: Locator): Promise<void> {
  await page.mouse.move(0, 0);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
      // Charts are drawn anew for a new width or theme with the next view.
      await page.evaluate(
        () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
      );
      await at?.scrollIntoViewIfNeeded();
      const file = `${name}-${colorScheme}-${size.width}.png`;
      await page.screenshot({ path: join(OUTPUT, "screenshots", file), animations: "disabled" });
      const outside = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect(outside, `${file}: wider than the window`).toBeLessThanOrEqual(0);
    }
  }
}

test("sign-in", async ({ page, site }) => {
  await page.goto(site.url);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await take(page, "sign-in");
});

test("picker", async ({ signedIn, program }) => {
  // CPU is known from the second listing on.
  const row = signedIn.locator(`[data-pid="${program.pid}"]`);
  await expect(row).toContainText(/\d\.\d %/);
  await take(signedIn, "picker");
});

test("doctor", async ({ signedIn, site }) => {
  await signedIn.goto(`${site.url}/doctor`);
  await expect(signedIn.locator("[data-check]").first()).toBeVisible();
  await take(signedIn, "doctor");
});

test("live and paused", async ({ signedIn }) => {
  test.setTimeout(300_000);
  await signedIn.getByRole("button", { name: "Start the demo" }).click();
  await expect(signedIn.locator('[data-tile="cpu"]')).toContainText(/\d/);
  await fill(signedIn);
  await take(signedIn, "live");
  await signedIn.keyboard.press("Space");
  await expect(signedIn.getByText("Paused. Sampling continues.")).toBeVisible();
  await take(signedIn, "live-paused");
  await signedIn.getByRole("button", { name: "Stop the demo" }).click();
});

/** A picture of an empty chart shows nothing: wait until a good part of the axis is filled. */
async function fill(page: Page): Promise<void> {
  await page.getByText("30 s", { exact: true }).click();
  await expect(page.locator("[data-fact='Attached for']")).toHaveText(/(1[2-9]|[2-5]\d) s|min/, {
    timeout: 40_000,
  });
}

test("where the time goes", async ({ signedIn, site }) => {
  test.skip(!canSwitch(), "needs root and a kernel with task_delayacct");
  test.setTimeout(300_000);
  await switched(true, async () => {
    const program = await TimeParts.start();
    try {
      await new LivePage(signedIn, site).open(program.pid);
      await fill(signedIn);
      const panel = signedIn.getByRole("region", { name: "Where the time goes" });
      await panel.scrollIntoViewIfNeeded();
      await take(signedIn, "times", panel);
    } finally {
      await program.kill();
    }
  });
});

test("steered", async ({ signedIn, site }) => {
  test.skip(GO === null, "needs a Go compiler");
  test.setTimeout(300_000);
  const program = await Steered.start();
  try {
    await signedIn.goto(`${site.url}/?pid=${program.pid}`);
    await signedIn.getByRole("button", { name: "Steer", exact: true }).click();
    const drawer = signedIn.getByRole("dialog", { name: "Steer" });
    await drawer.getByRole("combobox", { name: "of" }).selectOption("bidirectional");
    await drawer.getByLabel("interval_s").fill("1");
    await drawer.getByRole("button", { name: "bidirectional", exact: true }).click();
    await fill(signedIn);
    await drawer.getByRole("button", { name: "kalman-kg", exact: true }).click();
    await expect(signedIn.locator("[data-fact=Policy]")).toContainText("kalman-kg");
    await drawer.getByRole("button", { name: "Restart search" }).click();
    await expect(drawer.getByText("search restarted")).toBeVisible();
    await take(signedIn, "steer");
    await signedIn.setViewportSize({ width: 1440, height: 900 });
    await signedIn.keyboard.press("Escape");
    await take(signedIn, "timeline", signedIn.locator("[data-panel=gomaxprocs]"));
  } finally {
    await program.kill();
  }
});

test("runs, a run, and a comparison", async ({ signedIn, site, program }) => {
  test.setTimeout(300_000);
  const live = new LivePage(signedIn, site);
  await live.open(program.pid);
  for (const rate of ["10", "50"]) {
    await signedIn.getByRole("combobox", { name: "Rate" }).selectOption(rate);
    await signedIn.getByRole("button", { name: "Record", exact: true }).click();
    await live.frames(120);
    await take(signedIn, `recording-${rate}`);
    await signedIn.setViewportSize({ width: 1440, height: 900 });
    await signedIn.getByRole("button", { name: /^Stop recording/ }).click();
    await expect(signedIn.getByRole("button", { name: "Record", exact: true })).toBeVisible();
  }
  await signedIn.goto(`${site.url}/runs`);
  const names = signedIn.locator("[data-run] a[data-row]");
  await expect(names).toHaveCount(2);
  await take(signedIn, "runs");
  await names.first().click();
  await expect(signedIn.locator("[data-reading]")).toHaveAttribute("data-reading", "ready");
  await take(signedIn, "run");
  await signedIn.goto(`${site.url}/runs`);
  for (const box of await signedIn.getByRole("checkbox").all()) {
    await box.check();
  }
  await signedIn.getByRole("button", { name: "Compare 2" }).click();
  const differences = signedIn.getByRole("region", { name: "Differences" });
  await expect(differences).toBeVisible();
  await take(signedIn, "compare");
  await take(signedIn, "differences", differences);
});

test("exited", async ({ watching, program }) => {
  await fill(watching.page);
  await program.quit();
  await expect(watching.page.getByText("The process has exited")).toBeVisible();
  await take(watching.page, "exited");
});

test("disconnected, and no collector", async ({ page }) => {
  const site = await Site.start();
  const program = await Program.start();
  try {
    await page.goto(site.urlWithToken);
    await new LivePage(page, site).open(program.pid);
    await fill(page);
    await site.killBackend();
    await expect(page.getByText("Connection to the backend lost")).toBeVisible();
    await take(page, "disconnected");
    await site.killCollector();
    await site.startBackend();
    await page.goto(site.url);
    await expect(page.getByText("No collector is connected")).toBeVisible();
    await take(page, "no-collector");
  } finally {
    await program.kill();
    await site.stop();
  }
});
