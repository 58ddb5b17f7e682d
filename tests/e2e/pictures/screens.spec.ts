/** Screenshots for people of every page, in three sizes and both themes: test-output/screenshots. */

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { GO } from "../fixtures/build";
import { painted } from "../fixtures/images";
import { jaegerFile } from "../fixtures/jaeger";
import { LivePage } from "../fixtures/livePage";
import { OUTPUT } from "../fixtures/processes";
import { Steered, startLockWork } from "../fixtures/programs";
import { DEMO_RUN, galleryRun, STEERED_RUN } from "../fixtures/runs";
import type { Stack } from "../fixtures/stack";
import { expect, test } from "../fixtures/test";

const SCREENSHOTS = join(OUTPUT, "screenshots");
const DESKTOP = { width: 1440, height: 900 };
const SIZES = [DESKTOP, { width: 1920, height: 1080 }, { width: 390, height: 844 }] as const;
const SCHEMES = ["light", "dark"] as const;

/** Save screenshots of the page in all sizes and both themes. */
async function take(page: Page, name: string, at?: Locator): Promise<void> {
  mkdirSync(SCREENSHOTS, { recursive: true });
  await page.mouse.move(0, 0);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
      await painted(page);
      await at?.scrollIntoViewIfNeeded();
      const path = join(SCREENSHOTS, `${name}-${colorScheme}-${size.width}.png`);
      await page.screenshot({ path, animations: "disabled" });
    }
  }
  await page.setViewportSize(DESKTOP);
}

/** Import a run, open it, and wait until it is read. */
async function openRun(page: Page, stack: Stack, file: string): Promise<void> {
  await page.goto(`${stack.url}/runs/${await stack.importRun(file)}?tab=all`);
  await expect(page.locator("[data-reading]")).toHaveAttribute("data-reading", "ready");
  await expect(page.locator("[data-chart=cpu]")).toHaveAttribute("data-state", "ok");
}

test("sign-in", async ({ page, stack }) => {
  await page.goto(stack.url);
  await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
  await take(page, "sign-in");
});

test("picker, doctor", async ({ signedIn: page, stack, program }) => {
  // CPU is known from the second listing on.
  await expect(page.locator(`[data-pid="${program.pid}"]`)).toContainText(/\d\.\d+ %/);
  await take(page, "picker");
  await page.goto(`${stack.url}/doctor`);
  await expect(page.locator("[data-check]").first()).toBeVisible();
  await take(page, "doctor");
});

test("runs, a run, its times and map, a comparison", async ({ signedIn: page, stack }) => {
  await stack.importRun(STEERED_RUN);
  await openRun(page, stack, DEMO_RUN);
  await take(page, "run");
  await take(page, "run-times", page.getByRole("region", { name: "Where the time goes" }));
  await take(page, "run-map", page.getByRole("region", { name: "Thread map" }));
  await take(page, "run-threads", page.getByRole("region", { name: "Threads" }));
  await page.goto(`${stack.url}/runs`);
  await expect(page.locator("[data-run]").first()).toBeVisible();
  await take(page, "runs");
  for (const box of (await page.getByRole("checkbox").all()).slice(0, 2)) {
    await box.check();
  }
  await page.getByRole("button", { name: "Compare 2" }).click();
  const differences = page.getByRole("region", { name: "Differences", exact: true });
  await expect(differences).toBeVisible();
  await take(page, "compare");
  await take(page, "compare-differences", differences);
});

test("live, paused, recording, ended, disconnected, no collector", async ({
  watching,
  stack,
  program,
}) => {
  const { page } = watching;
  await page.getByText("30 s", { exact: true }).click();
  // An empty chart would show nothing.
  await watching.frames(120);
  await take(page, "live");
  await page.keyboard.press("Space");
  await take(page, "live-paused");
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Record", exact: true }).click();
  await expect(page.getByRole("button", { name: /^Stop recording/ })).toBeVisible();
  await take(page, "live-recording");
  await stack.killBackend();
  await expect(page.getByText("Connection to the backend lost")).toBeVisible();
  await take(page, "disconnected");
  await stack.startBackend();
  await expect(page.locator("[data-connection=open]")).toBeVisible();
  await program.quit();
  await expect(page.getByText("The process has exited")).toBeVisible();
  await take(page, "ended");
  await stack.killCollector();
  await page.goto(stack.url);
  await expect(page.getByRole("heading", { name: "No collector is connected" })).toBeVisible();
  await take(page, "no-collector");
});

test("steering", async ({ signedIn: page, stack }) => {
  test.skip(GO === null, "needs a Go compiler");
  const program = await Steered.start();
  try {
    await page.goto(`${stack.url}/?pid=${program.pid}&tab=all`);
    const live = new LivePage(page, stack);
    await page.getByRole("button", { name: "Steer", exact: true }).click();
    const drawer = page.getByRole("dialog", { name: "Steer" });
    await drawer.locator("details", { hasText: "Parameters" }).locator("summary").first().click();
    await drawer.getByRole("combobox", { name: "of" }).selectOption("bidirectional");
    await drawer.getByLabel("interval_s").fill("1");
    await drawer.getByRole("button", { name: "bidirectional", exact: true }).click();
    await live.frames(120);
    await take(page, "steer");
    await page.keyboard.press("Escape");
    await take(page, "steer-timeline", page.locator("[data-panel=gomaxprocs]"));
  } finally {
    await program.kill();
  }
});

test("a run without stacks, findings opened, experiments", async ({ signedIn: page, stack }) => {
  await openRun(page, stack, galleryRun("postgres"));
  const findings = page.getByRole("region", { name: "Findings" });
  await findings.getByRole("button", { expanded: false }).click();
  await take(page, "findings", findings);
  const run = new URL(page.url()).pathname.split("/").at(-1);
  await page.goto(`${stack.url}/stacks?run=${run}`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  await take(page, "stacks-none");
  await page.goto(`${stack.url}/experiments`);
  await expect(page.getByRole("heading", { name: "Experiments", exact: true })).toBeVisible();
  await take(page, "experiments");
});

test("traces, their difference, a trace with its critical path", async ({ page, stack }) => {
  await page.goto(stack.signingIn("/traces"));
  const now_us = 1000 * (Date.now() - 3_600_000);
  await page
    .getByLabel("Traces to import")
    .setInputFiles([jaegerFile("cc", now_us, 30_000), jaegerFile("dd", now_us + 600e6, 250_000)]);
  const endpoints = page.getByRole("table", { name: "Endpoints" });
  await expect(endpoints.locator("tr[data-key]").first()).toBeVisible();
  await take(page, "traces");
  await endpoints.getByRole("link").first().click();
  await expect(page.locator("[data-flame]")).toHaveAttribute("data-boxes", "2");
  await take(page, "traces-endpoint");
  await page.locator("label", { hasText: /^Difference$/ }).click();
  await page.getByRole("button", { name: "Before and after the pause" }).click();
  await expect(page.locator("[data-lead]")).toBeVisible();
  await take(page, "traces-difference");
  const changes = page.getByRole("table", { name: "Changes" });
  await changes.locator('tr[data-key="database Q"]').getByRole("link").first().click();
  const path = page.getByRole("table", { name: "Spans of the critical path" });
  await expect(path.getByRole("row").nth(1)).toBeVisible();
  await take(page, "trace");
  await take(page, "trace-path", path);
});

test("stacks: icicle, flame, difference", async ({ page, stack }) => {
  const program = await startLockWork();
  try {
    await page.goto(stack.signingIn(`/?pid=${program.pid}&tab=all`));
    const panel = page.getByRole("region", { name: "Stacks", exact: true });
    await panel.getByRole("button", { name: "Take stacks" }).click();
    await new LivePage(page, stack).frames(100);
    const target = new URL(page.url()).searchParams.get("target") ?? "";
    const at = `${stack.url}/stacks?target=${target}&last=10`;
    for (const [name, more] of [
      ["icicle", ""],
      ["flame", "&flame=up"],
      ["lock", "&role=worker-%23&state=futex"],
    ] as const) {
      await page.goto(`${at}${more}`);
      await expect(page.locator("[data-flame]").first()).toHaveAttribute("data-boxes", /^[1-9]/);
      await take(page, `stacks-${name}`);
    }
    await page.goto(`${at}&against=before`);
    await expect(page.locator("[data-panel=stacks-difference] [data-figure=before]")).toBeVisible();
    await take(page, "stacks-difference");
  } finally {
    await program.stop();
  }
});
