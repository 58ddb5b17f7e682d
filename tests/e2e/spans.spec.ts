/** The two ways between a span and its thread: to Live or the run at that time, and back. */

import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures/test";
import { Traced } from "./fixtures/traced";

test.use({ receivesSpans: true });

/** The window that the address points at, Unix ms. */
function windowOf(page: Page): readonly [from: number, to: number] {
  const { searchParams } = new URL(page.url());
  return [Number(searchParams.get("from")), Number(searchParams.get("to"))];
}

test("a span leads to its thread on Live and in the run, and the thread to its requests", async ({
  signedIn: page,
  site,
}) => {
  const traced = await Traced.start(site);
  const target = (await site.send("POST", "/targets", { pid: traced.pid, rate_hz: 20 })) as {
    id: string;
  };
  const run = (await site.send("POST", "/runs", { target: target.id })) as { id: string };
  const { trace, waiter } = await traced.request();
  const detail = async () =>
    (await site.get(`/traces/${trace}`)) as {
      threads: readonly { tid: number | null; coverage: number }[];
      spans: readonly { operation: string; start_ns: number; duration_ns: number }[];
    };
  // Samples behind its end are still to come.
  await expect.poll(async () => (await detail()).threads[0]?.coverage ?? 0).toBeGreaterThan(0.8);
  const wait = (await detail()).spans.find(({ operation }) => operation === "wait");
  const began_ms = (wait?.start_ns ?? 0) / 1e6;

  await page.goto(`${site.url}/traces/${trace}`);
  const path = page.getByRole("table", { name: "Spans of the critical path" });
  // On a machine that does other work too, what follows it may take longer than the wait.
  const waited = path.locator("tr[data-key]", { hasText: "traced wait" });
  await expect(waited).toContainText(/Locks.*waiter/);
  const pressed = waited.getByRole("button", { name: "traced wait" });
  if ((await pressed.getAttribute("aria-pressed")) !== "true") await pressed.click();
  await page.getByRole("link", { name: "Its thread on Live at that time" }).click();

  // The thread is selected, and its window holds the span.
  await expect(page).toHaveURL(new RegExp(`\\?target=${target.id}&from=`));
  const [from, to] = windowOf(page);
  expect(from).toBeLessThan(began_ms);
  expect(to).toBeGreaterThan(began_ms + (wait?.duration_ns ?? 0) / 1e6);
  await expect(page.getByRole("button", { name: /^Zoomed to/ })).toBeVisible();
  const panel = page.locator("[data-thread]");
  await expect(panel.getByRole("region", { name: "Ledger" })).toContainText("Waiting for a lock");
  await expect(page.getByRole("heading", { name: `waiter (${waiter})` })).toBeVisible();

  // Back: what then waited for this thread, and for how long.
  await panel.getByRole("link", { name: "Requests that waited for this thread" }).click();
  await expect(page.getByRole("heading", { name: `requests of thread ${waiter}` })).toBeVisible();
  const requests = page.getByRole("table", { name: "Requests" });
  await expect(requests.locator("tr[data-key]")).toHaveCount(1);
  await expect(requests.locator("tr[data-key] td").first()).toHaveText(/^(0\.[5-9]|[1-9]\.)\d* s$/);
  await page.getByRole("button", { name: `Requests of process ${traced.pid}` }).click();
  await expect(requests.locator("tr[data-key]")).toHaveCount(1);
  await requests.getByRole("link").click();
  await expect(page).toHaveURL(new RegExp(`/traces/${trace}$`));

  // The same from the run, once the target is gone.
  await site.send("POST", `/runs/${run.id}/stop`, undefined);
  await traced.kill();
  await page.goto(`${site.url}/runs/${run.id}?from=${from}&to=${to}&tid=${waiter}`);
  await expect(page.getByRole("heading", { name: `waiter (${waiter})` })).toBeVisible();
  await page.getByRole("link", { name: "Requests in this window" }).click();
  await expect(requests.locator("tr[data-key]")).toHaveCount(1);

  // The run by its name is a set of requests.
  await page.goto(`${site.url}/traces?service=traced&operation=request`);
  const runs = page.getByRole("combobox", { name: "Run" });
  await runs.selectOption(run.id);
  await expect(page).toHaveURL(new RegExp(`run=${run.id}`));
  await expect(page.locator("[data-fact=Requests]")).toHaveText(/1$/);
});
