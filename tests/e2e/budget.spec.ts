/** What the page says of the collector's CPU budget, and of energy. */

import { LivePage } from "./fixtures/livePage";
import { Program } from "./fixtures/program";
import { Site } from "./fixtures/site";
import { expect, test } from "./fixtures/test";

/** Below what any sampling at ten a second takes. */
const TINY_PERCENT = 0.05;

test("a rate that the budget lowered is seen, and how to raise the budget", async ({
  page,
  built: _,
}) => {
  test.setTimeout(180_000);
  const site = await Site.start(TINY_PERCENT);
  const program = await Program.start();
  try {
    await page.goto(site.urlWithToken);
    await new LivePage(page, site).open(program.pid);
    const effective = page.locator("[data-effective-hz]");
    await expect(effective).toContainText(/Hz effective \(10 requested\)/, { timeout: 30_000 });
    await expect(page.getByRole("combobox", { name: "Rate" })).toHaveValue("10");
    await effective.focus();
    await expect(page.getByRole("tooltip")).toContainText("tidscope with --budget-percent");
    await expect(page.locator('[data-event="rate_adapted"]').last()).toContainText(
      "Sampling rate lowered from 10 to",
    );
    await page.getByRole("button", { name: /warning/ }).click();
    const health = page.getByRole("region", { name: "Data quality" });
    await expect(health).toContainText(/Hz instead of the requested 10 Hz/);
    await expect(health).toContainText(/Effective rate\d(\.\d+)? Hz/);
    await expect(health).toContainText(/Sampling overhead\d+\.\d % of a core \(budget 0\.05 %\)/);
    await expect(health).toContainText(/Replay buffer.* frames unsent/);
  } finally {
    await program.kill();
    await site.stop();
  }
});

test("power is shown, or why there is none", async ({ watching, site }) => {
  test.setTimeout(180_000);
  const { checks } = (await site.get("/doctor")) as { checks: Check[] };
  const energy = checks.find(({ name }) => name === "energy");
  const tile = watching.tile("power");
  if (energy?.status === "ok") {
    await expect(tile).toContainText(/\d [km]?W machine/);
    await expect(tile).toContainText("process, est.");
  } else {
    await expect(tile).toHaveAttribute("data-state", "absent");
    await expect(tile).toContainText("No energy counter");
    await expect(watching.page.locator('[data-column="power"]')).toHaveCount(0);
  }
});

interface Check {
  readonly name: string;
  readonly status: string;
}
