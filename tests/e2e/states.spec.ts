/** Time of threads: thread map, where the time goes, and a thread's ledger; live and in a run. */

import type { Locator, Page } from "@playwright/test";
import type { LivePage } from "./fixtures/livePage";
import { shownNumber, TimesPanel } from "./fixtures/livePage";
import { expect, test } from "./fixtures/test";

const map = (page: Page): Locator => page.locator("[data-map]");
const thread = (page: Page): Locator => page.locator("[data-panel=thread]");

/** True if the host keeps ledgers, which needs eBPF and Linux 6.1. */
async function hasLedgers({ page, stack }: LivePage): Promise<boolean> {
  const { targets } = (await stack.get("/targets")) as {
    readonly targets: readonly { readonly id: string; readonly source: { ledger: boolean } }[];
  };
  return targets.some(({ id, source }) => page.url().includes(id) && source.ledger);
}

/** Number of columns that the map has drawn. */
async function columns(page: Page): Promise<number> {
  return Number(await map(page).getAttribute("data-columns"));
}

/** Ledger of the selected thread: shares by state, in percent, and its sum minus the clock, in ns. */
async function ledgerOf(page: Page): Promise<{ shares: Map<string, number>; difference: number }> {
  const rows = thread(page).locator("[data-ledger] tr[data-part]");
  const cells = await rows.evaluateAll((all) =>
    all.map((row): [string, string] => [
      row.getAttribute("data-part") ?? "",
      row.querySelector("td:last-child")?.textContent ?? "",
    ]),
  );
  const ends = await thread(page).locator("[data-difference]").getAttribute("data-difference");
  const shares = cells.map(([part, text]): [string, number] => [part, shownNumber(text)]);
  return { shares: new Map(shares), difference: Number(ends) };
}

/** Sum of the shares of some states. */
function sharesOf(shares: ReadonlyMap<string, number>, states: readonly string[]): number {
  return states.reduce((sum, state) => sum + (shares.get(state) ?? 0), 0);
}

test("states of threads: the map by keyboard, a thread's ledger, idle time folded away", async ({
  watching,
}) => {
  const { page } = watching;
  test.skip(!(await hasLedgers(watching)), "needs eBPF and Linux 6.1 with BTF");
  await map(page).scrollIntoViewIfNeeded();
  await expect(map(page)).toHaveAttribute("data-map", "state");
  await expect.poll(() => columns(page)).toBeGreaterThanOrEqual(20);

  // Arrow keys move a cursor; the text for screen readers tells the shares of a cell.
  await map(page).focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowLeft");
  await expect(page.locator("[data-map-said]")).toContainText(/\(\d+\), .*: .* \d+ %/);

  const panel = new TimesPanel(page);
  await expect.poll(() => panel.allShares()).toBeGreaterThan(99);
  await expect.poll(() => panel.allShares()).toBeLessThan(101);
  const awake = ["on_cpu", "preempted", "woken"] as const;
  // Without sleep the shares would not add up to 100 %.
  expect(await panel.share("sleep")).toBeGreaterThan(5);
  await page.keyboard.press("i");
  await expect(page).toHaveURL(/idle=folded/);
  await expect(panel.part("sleep")).toHaveCount(0);
  await expect.poll(() => panel.allShares()).toBeGreaterThan(99);
  await expect.poll(() => panel.allShares()).toBeLessThan(101);
  await page.reload();
  await expect(page.getByRole("checkbox", { name: "Fold idle time away" })).toBeChecked();

  // The burner burns 5 ms and sleeps 15 ms; on a busy machine it waits for a CPU instead.
  await watching.row("burner").getByRole("button", { name: "burner", exact: true }).click();
  await expect(thread(page)).toBeVisible();
  await expect.poll(async () => sharesOf((await ledgerOf(page)).shares, awake)).toBeGreaterThan(20);
  const { shares } = await ledgerOf(page);
  expect(shares.get("sleep")).toBeGreaterThan(0);
  expect(sharesOf(shares, [...awake, "sleep"])).toBeGreaterThan(95);
  // The ledger adds up to the clock, within the microseconds between two settlements. A stall of a
  // virtual machine between them shows until the next ones.
  await expect.poll(async () => Math.abs((await ledgerOf(page)).difference)).toBeLessThan(100_000);

  await page.keyboard.press("t");
  await expect(thread(page)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(thread(page)).toHaveCount(0);
  await expect(watching.row("burner")).toHaveAttribute("data-selected", "true");

  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 844 });
    const outside = () =>
      page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
    await expect.poll(outside).toBeLessThanOrEqual(0);
  }
});

test("a run shows the same states, in a window too, and of threads that ended", async ({
  watching,
  program,
}) => {
  const { page } = watching;
  test.skip(!(await hasLedgers(watching)), "needs eBPF and Linux 6.1 with BTF");
  await page.getByRole("button", { name: "Record", exact: true }).click();
  await expect(page.getByRole("button", { name: /^Stop recording/ })).toBeVisible();
  await watching.frames(40);
  await program.kill();
  await page.getByRole("button", { name: "Open", exact: true }).last().click();
  await expect(page.locator("[data-reading]")).toHaveAttribute("data-reading", "ready");
  await expect(map(page)).toHaveAttribute("data-map", "state");
  await expect.poll(() => columns(page)).toBeGreaterThanOrEqual(10);
  await page.getByRole("link", { name: "Threads" }).click();
  const select = async (name: string) => {
    await page
      .getByRole("region", { name: "Threads" })
      .getByRole("button", { name, exact: true })
      .click();
    await expect(
      page.getByRole("heading", { name: new RegExp(`^Thread ${name} \\(\\d+\\)$`) }),
    ).toBeVisible();
  };
  const differences: number[] = [];
  for (const name of ["writer", "burner"]) {
    await select(name);
    differences.push(Math.abs((await ledgerOf(page)).difference));
  }
  const awake = ["on_cpu", "preempted", "woken"] as const;
  await expect.poll(async () => sharesOf((await ledgerOf(page)).shares, awake)).toBeGreaterThan(20);
  // The exit record precedes the thread's last switch, which ends the ledger. In between a thread
  // may wait for a CPU, but hardly each of them.
  expect(Math.min(...differences)).toBeLessThan(50_000_000);
});

test("what the kernel counts adds up, for all threads, a role, and the process", async ({
  watching,
}) => {
  const { page } = watching;
  const panel = new TimesPanel(page);
  await expect.poll(() => panel.allShares()).toBeGreaterThan(99);
  await expect.poll(() => panel.allShares()).toBeLessThan(101);
  await panel.role(/^burner/).click();
  await expect(panel.root.locator("[data-scope=role]")).toContainText("of burner");
  // The burner burns 5 ms and sleeps 15 ms; on a busy machine it waits for a CPU instead.
  const awake = () => panel.sharesOf(["cpu", "queue", "on_cpu", "preempted", "woken"]);
  await expect.poll(awake).toBeGreaterThan(20);
  await panel.role(/^sleeper-#/).click();
  await expect.poll(awake).toBeLessThan(5);

  await page.locator("[data-quality]").click();
  const quality = page.getByRole("region", { name: "Data quality" });
  await expect(quality).toContainText(/process [±+−] <?\d[.\d]* % of/);
});
