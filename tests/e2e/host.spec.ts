/** Tests that change or measure the whole machine: the kernel's delay switch, and a CPU budget. */

import type { Page } from "@playwright/test";
import { canSwitch, isOn, switched } from "./fixtures/delaySwitch";
import { LivePage, TimesPanel } from "./fixtures/livePage";
import { TimeParts } from "./fixtures/programs";
import { Stack } from "./fixtures/stack";
import { expect, test } from "./fixtures/test";

// With ledgers, delay accounting does not divide the time of threads.
test.use({ ledger: "off" });

/** A budget that sampling at 10 Hz always exceeds, in percent of a core. */
const TINY_PERCENT = 0.05;

test("a rate that the budget lowered is seen, and how to raise the budget", async ({
  page,
  program,
}) => {
  const stack = await Stack.start(TINY_PERCENT);
  try {
    await page.goto(stack.urlWithToken);
    await expect(page.locator("[data-connection=open]")).toBeVisible();
    await new LivePage(page, stack).open(program.pid);
    const effective = page.locator("[data-effective-hz]");
    await expect(effective).toContainText(/Hz effective \(10 requested\)/);
    await expect(page.getByRole("combobox", { name: "Rate" })).toHaveValue("10");
    // Scrolling hides tooltips, also the scrolling that the focus causes.
    await expect(async () => {
      await effective.blur();
      await effective.focus();
      await expect(page.getByRole("tooltip")).toContainText("tidscope with --budget-percent", {
        timeout: 2000,
      });
    }).toPass();
    await expect(page.locator('[data-event="rate_adapted"]').last()).toContainText(
      "Sampling rate lowered from 10 to",
    );
    await page.setViewportSize({ width: 390, height: 844 });
    // A busy machine delays the resize event that changes the layout.
    await expect
      .poll(() => effective.evaluate((element) => element.getBoundingClientRect().right), {
        message: "fits a phone",
      })
      .toBeLessThanOrEqual(390);
    await page.getByRole("button", { name: /warning/ }).click();
    const quality = page.getByRole("region", { name: "Data quality" });
    await expect(quality).toContainText(/Hz instead of the requested 10 Hz/);
    await expect(quality).toContainText(/Effective rate\d(\.\d+)? Hz/);
    await expect(quality).toContainText(/Sampling overhead\d+\.\d+ % of a core \(budget 0\.05 %\)/);
    await expect(quality).toContainText(/Replay buffer.* frames unsent/);
  } finally {
    await stack.stop();
  }
});

test.describe("delay accounting", () => {
  test.skip(!canSwitch(), "needs root and a kernel with task_delayacct");

  /** Watch a new program that waits in known ways. */
  async function watching(page: Page, stack: Stack, observe: (panel: TimesPanel) => Promise<void>) {
    const program = await TimeParts.start();
    try {
      await page.goto(`${stack.url}/?pid=${program.pid}&tab=all`);
      await observe(new TimesPanel(page));
    } finally {
      await program.kill();
    }
  }

  test("that is off makes delays unavailable, not 0", async ({ signedIn, stack }) => {
    await switched(false, () =>
      watching(signedIn, stack, async (panel) => {
        for (const part of ["blkio", "swapin", "memory"]) {
          await expect(panel.part(part)).toContainText("not available");
        }
        await expect(panel.part("unsplit")).toContainText(/%/);
        await expect(panel.part("rest")).toHaveCount(0);
        await expect(panel.root.locator("[data-reason=blkio]")).toContainText(
          "enable it in Doctor",
        );
      }),
    );
  });

  test("is switched from Doctor, and then waits are distinguished", async ({ signedIn, stack }) => {
    await switched(false, async () => {
      await signedIn.goto(`${stack.url}/doctor`);
      const card = signedIn.locator("[data-check=delay-accounting]");
      await expect(card).toContainText("Only threads that start while it is on have delays");
      await card.getByRole("button", { name: "Turn on delay accounting" }).click();
      await expect(card).toHaveAttribute("data-state", "ok");
      expect(isOn()).toBe(true);
      await watching(signedIn, stack, async (panel) => {
        await panel.role(/^disk/).click();
        await expect(panel.root.locator("[data-scope=role]")).toContainText("of disk");
        // Linux misses waits from 6.12 on (docs/measurement.md), in a crowd at times all of them.
        await expect(panel.part("blkio")).toContainText(/%/);
        await panel.role(/^burner/).click();
        await expect(panel.root.locator("[data-scope=role]")).toContainText("of burner");
        // The burner only computes and waits for a CPU.
        await expect.poll(() => panel.share("rest")).toBeLessThan(25);
        await panel.role(/^crowd-#/).click();
        await expect(panel.root.locator("[data-scope=role]")).toContainText("of crowd-#");
        await expect.poll(() => panel.share("queue")).toBeGreaterThan(30);
        expect(await panel.share("blkio")).toBe(0);
        await panel.role(/^sleeper/).click();
        await expect(panel.root.locator("[data-scope=role]")).toContainText("of sleeper");
        await expect.poll(() => panel.share("rest")).toBeGreaterThan(80);
        await expect(panel.part("unsplit")).toHaveCount(0);
      });
      await signedIn.goto(`${stack.url}/doctor`);
      await card.getByRole("button", { name: "Turn off delay accounting" }).click();
      await expect(card).toHaveAttribute("data-state", "limited");
      expect(isOn()).toBe(false);
    });
  });
});
