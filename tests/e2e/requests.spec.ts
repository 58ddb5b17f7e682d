/** Pages of unlike targets ask only for what these have: no answer is 422. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Page } from "@playwright/test";
import { allPanels } from "./fixtures/livePage";
import { end } from "./fixtures/processes";
import type { Stack } from "./fixtures/stack";
import { expect, test } from "./fixtures/test";

/** Collect requests that the backend does not understand, by address. */
function misfits(page: Page): readonly string[] {
  const found: string[] = [];
  page.on("response", (answer) => {
    if (answer.status() === 422) found.push(`${answer.request().method()} ${answer.url()}`);
  });
  return found;
}

/** Attach to a target, and open all of its panels and its stacks. */
async function openAll(page: Page, stack: Stack, what: object): Promise<string> {
  const { id } = (await stack.send("POST", "/targets", what)) as { readonly id: string };
  await page.goto(stack.signingIn(`/?target=${id}`));
  await expect(page.locator('[data-state="live"]').first()).toBeVisible();
  await allPanels(page);
  await page.goto(`${stack.url}/stacks?target=${id}`);
  await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
  // A window before the target, which has no time in it.
  await page.goto(`${stack.url}/stacks?target=${id}&from=5&to=6`);
  await expect(page.locator("[data-flame], [data-reason]").first()).toBeVisible();
  return id;
}

test("a single thread, another user's process, a group, and one that has exited", async ({
  page,
  stack,
  family,
}) => {
  const found = misfits(page);
  const other = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
  const sleeper = spawn("sleep", ["600"], { stdio: "ignore", ...other });
  await once(sleeper, "spawn");
  try {
    const id = await openAll(page, stack, { pid: sleeper.pid });
    await openAll(page, stack, { group: { kind: "tree", pid: family.pid } });
    await page.goto(`${stack.url}/?target=${id}`);
    await expect(page.locator('[data-state="live"]').first()).toBeVisible();
    const gone = once(sleeper, "exit");
    sleeper.kill("SIGKILL");
    await gone;
    await expect(page.getByText("The process has exited")).toBeVisible();
    await allPanels(page);
    expect(found).toEqual([]);
    // Nothing of a kernel thread can be shown; the page says so.
    await page.goto(`${stack.url}/?pid=2`);
    await expect(page.getByText(/kernel thread/i).first()).toBeVisible();
  } finally {
    await end(sleeper, "SIGKILL");
  }
});
