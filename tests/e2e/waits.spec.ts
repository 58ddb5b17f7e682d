/** Findings, locks and wake-ups of a program whose threads wait for each other in a known way. */

import type { Locator, Page } from "@playwright/test";
import { LivePage } from "./fixtures/livePage";
import { startBlockedLoop, startLockWork } from "./fixtures/programs";
import type { Stack } from "./fixtures/stack";
import { expect, test } from "./fixtures/test";

const region = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

/** Numbers in a column of a table, by the text of the first cell; share and rates alike. */
async function figures(table: Locator, column: number): Promise<Record<string, number>> {
  const rows = await table.locator("tr[data-key]").evaluateAll(
    (all, at) =>
      all.map((row) => {
        const cells = [...row.querySelectorAll("th, td")].map((cell) => cell.textContent ?? "");
        return [cells[0] ?? "", Number.parseFloat(cells[at] ?? "")] as const;
      }),
    column,
  );
  return Object.fromEntries(rows);
}

/** Positions of all nodes of the graph, by key. */
async function places(graph: Locator): Promise<Record<string, string>> {
  const nodes = await graph.locator("[data-node]").evaluateAll((all) =>
    all.map((node) => {
      const { left, top } = (node as HTMLElement).style;
      return [(node as HTMLElement).dataset.node ?? "", `${left} ${top}`] as const;
    }),
  );
  return Object.fromEntries(nodes);
}

/** Open a process and wait for its findings; skips the test where the kernel keeps no ledger. */
async function openFindings(page: Page, stack: Stack, pid: number): Promise<Locator> {
  await page.goto(stack.signingIn(`/?pid=${pid}`));
  const findings = region(page, "Findings");
  await expect(findings).not.toContainText("five seconds");
  test.skip(
    (await page.locator("[data-absent=ledger]").count()) > 0,
    "this kernel keeps no ledger of states",
  );
  return findings;
}

test("a finding leads to its lock and to those who wait for it, live and in a run", async ({
  page,
  stack,
}) => {
  const program = await startLockWork();
  try {
    const findings = await openFindings(page, stack, program.pid);
    const found = findings.getByRole("button", {
      name: /^4 threads waited .* % of the time for one lock, “pool_mu”.*; its holder sleeps\.$/,
    });
    const seesLock = async () => {
      await found.click();
      const locks = region(page, "Waiting on");
      await expect(page.locator("#panel-waiting")).toBeFocused();
      const waiters = locks.getByRole("table", { name: "Waiters" });
      await expect(waiters.locator("tr[data-key]")).toHaveCount(4);
      // One of four threads holds the lock at a time.
      const inTurn = (share: number) => share > 50 && share < 90;
      await expect
        .poll(async () => Object.values(await figures(waiters, 1)).filter(inTurn).length)
        .toBe(4);
    };
    await seesLock();
    await page.getByRole("button", { name: "Record", exact: true }).click();
    await expect(page.getByRole("button", { name: /^Stop recording/ })).toBeVisible();
    await new LivePage(page, stack).frames(80);
    await page.getByRole("button", { name: /^Stop recording/ }).click();
    await page.getByRole("button", { name: "Open", exact: true }).last().click();
    await expect(page.locator("[data-reading]")).toHaveAttribute("data-reading", "ready");
    await seesLock();
  } finally {
    await program.stop();
  }
});

test("the graph of wake-ups stands still, and a role is selected by keyboard", async ({
  page,
  stack,
}) => {
  const program = await startLockWork();
  try {
    await page.goto(stack.signingIn(`/?pid=${program.pid}&tab=all`));
    const panel = region(page, "Who wakes whom");
    await expect(page.locator('[data-state="live"]').first()).toBeVisible();
    test.skip(
      (await page.locator("[data-absent=ledger]").count()) > 0,
      "this kernel keeps no ledger of states",
    );
    await panel.scrollIntoViewIfNeeded();
    const graph = panel.getByRole("region", { name: "Wake-up graph" });
    const reader = graph.getByRole("button", { name: /^reader / });
    await expect(reader).toBeVisible();
    const table = panel.getByRole("table", { name: "Wake-ups" });
    const fed = table.locator("tr[data-key='role:feeder>role:reader']");
    // 100 a second; on a busy machine the feeder's pauses are longer.
    await expect.poll(async () => (await figures(table, 2)).feeder ?? 0).toBeGreaterThan(20);
    const before = await places(graph);
    const words = await fed.textContent();
    await expect.poll(() => fed.textContent()).not.toBe(words);
    const after = await places(graph);
    for (const [key, place] of Object.entries(before)) {
      if (key in after) {
        expect(after[key], key).toBe(place);
      }
    }
    await graph.locator("[data-node][tabindex='0']").focus();
    for (let steps = 0; steps < 20; steps++) {
      if (await reader.evaluate((node) => node === document.activeElement)) break;
      await page.keyboard.press("ArrowRight");
    }
    await page.keyboard.press("Enter");
    await expect(reader).toHaveAttribute("aria-pressed", "true");
    const threads = region(page, "Threads");
    await expect(threads.getByRole("button", { name: "reader", exact: true })).toBeVisible();
    await expect(threads.getByRole("button", { name: /^worker-/ })).toHaveCount(0);
    await page.keyboard.press("Enter");
    await expect(threads.getByRole("button", { name: /^worker-/ })).not.toHaveCount(0);
  } finally {
    await program.stop();
  }
});

test("a finding names an event loop that computes, and leads to its thread", async ({
  page,
  stack,
}) => {
  const program = await startBlockedLoop();
  try {
    const findings = await openFindings(page, stack, program.pid);
    const name = `The event loop of node \\(${program.pid}\\) is blocked by computing`;
    const found = findings.getByRole("button", { name: new RegExp(name) });
    await expect(found).toBeVisible();
    await findings.getByRole("button", { name: /^(Details|\d more)$/ }).click();
    await expect(findings).toContainText("Try: Move the long computation into a thread");
    await found.click();
    await expect(page.locator("#panel-times")).toBeFocused();
  } finally {
    await program.stop();
  }
});
