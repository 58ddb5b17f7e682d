/** Ways between spans and threads: to Live or a run and back, and from a slow endpoint to its mutex. */

import type { Page } from "@playwright/test";
import type { Stack } from "./fixtures/stack";
import { expect, test } from "./fixtures/test";
import { Hotrod, Traced } from "./fixtures/tracedPrograms";

test.use({ receivesSpans: true });

/** Window in the address, in Unix milliseconds. */
function windowOf(page: Page): readonly [from: number, to: number] {
  const { searchParams } = new URL(page.url());
  return [Number(searchParams.get("from")), Number(searchParams.get("to"))];
}

test("a span leads to its thread on Live and in the run, and the thread to its requests", async ({
  signedIn: page,
  stack,
}) => {
  const traced = await Traced.start(stack);
  const target = (await stack.send("POST", "/targets", { pid: traced.pid, rate_hz: 20 })) as {
    id: string;
  };
  const run = (await stack.send("POST", "/runs", { target: target.id })) as { id: string };
  // Samples precede the request.
  const samples = async () => (await stack.health()).frames;
  const before = await samples();
  await expect.poll(samples).toBeGreaterThan(before + 2);
  const { trace, waiter } = await traced.request();
  const detail = async () =>
    (await stack.get(`/traces/${trace}`)) as {
      threads: readonly { tid: number | null; coverage: number }[];
      spans: readonly { operation: string; start_ns: number; duration_ns: number }[];
    };
  // Samples after the end of the span are still to come.
  await expect.poll(async () => (await detail()).threads[0]?.coverage ?? 0).toBeGreaterThan(0.8);
  const wait = (await detail()).spans.find(({ operation }) => operation === "wait");
  const began_ms = (wait?.start_ns ?? 0) / 1e6;

  await page.goto(`${stack.url}/traces/${trace}`);
  const path = page.getByRole("table", { name: "Spans of the critical path" });
  // On a busy machine, the spans after the wait may take longer than the wait.
  const waited = path.locator("tr[data-key]", { hasText: "traced wait" });
  await expect(waited).toContainText(/Locks.*waiter/);
  const pressed = waited.getByRole("button", { name: "traced wait" });
  if ((await pressed.getAttribute("aria-pressed")) !== "true") await pressed.click();
  await page.getByRole("link", { name: "Its thread on Live at that time" }).click();

  // The thread is selected, and the window contains the span.
  await expect(page).toHaveURL(new RegExp(`\\?target=${target.id}&from=`));
  const [from, to] = windowOf(page);
  expect(from).toBeLessThan(began_ms);
  expect(to).toBeGreaterThan(began_ms + (wait?.duration_ns ?? 0) / 1e6);
  await expect(page.getByRole("button", { name: /^Zoomed to/ })).toBeVisible();
  const panel = page.locator("[data-thread]");
  await expect(panel.getByRole("region", { name: "Ledger" })).toContainText("Waiting for a lock");
  await expect(page.getByRole("heading", { name: `waiter (${waiter})` })).toBeVisible();

  // Back: requests that waited for this thread, and for how long.
  await panel.getByRole("link", { name: "Requests that waited for this thread" }).click();
  await expect(page.getByRole("heading", { name: `requests of thread ${waiter}` })).toBeVisible();
  const requests = page.getByRole("table", { name: "Requests" });
  await expect(requests.locator("tr[data-key]")).toHaveCount(1);
  await expect(requests.locator("tr[data-key] td").first()).toHaveText(/^(0\.[5-9]|[1-9]\.)\d* s$/);
  await page.getByRole("button", { name: `Requests of process ${traced.pid}` }).click();
  await expect(requests.locator("tr[data-key]")).toHaveCount(1);
  await requests.getByRole("link").click();
  await expect(page).toHaveURL(new RegExp(`/traces/${trace}$`));

  // The run leads to the same requests once the target has exited.
  await stack.send("POST", `/runs/${run.id}/stop`, undefined);
  await traced.kill();
  await page.goto(`${stack.url}/runs/${run.id}?from=${from}&to=${to}&tid=${waiter}`);
  await expect(page.getByRole("heading", { name: `waiter (${waiter})` })).toBeVisible();
  await page.getByRole("link", { name: "Requests in this window" }).click();
  await expect(requests.locator("tr[data-key]")).toHaveCount(1);

  // A run selects a set of requests.
  await page.goto(`${stack.url}/traces?service=traced&operation=request`);
  const runs = page.getByRole("combobox", { name: "Run" });
  await runs.selectOption(run.id);
  await expect(page).toHaveURL(new RegExp(`run=${run.id}`));
  await expect(page.locator("[data-fact=Requests]")).toHaveText(/1$/);
});

const CLIENTS = 5;
const ENDPOINT = "service=frontend&operation=/dispatch";

interface Listed {
  readonly traces: readonly {
    readonly trace_id: string;
    readonly spans: number;
    readonly errors: number;
  }[];
}

/** Wait for a number of requests, and until no more spans arrive. HotROD sends them once a second. */
async function received(stack: Stack, requests: number): Promise<void> {
  let before = -1;
  const settled = async () => {
    const { traces } = (await stack.get(`/traces?${ENDPOINT}`)) as Listed;
    const all = traces.reduce((sum, { spans }) => sum + spans, 0);
    const same = all === before;
    before = all;
    return same && traces.length >= requests;
  };
  await expect.poll(settled, { intervals: [1500] }).toBe(true);
}

interface Detail {
  readonly threads: readonly { readonly locks: readonly unknown[] }[];
}

/** True if the newest complete request has locks: 37 spans, and one for each failed call. */
async function newestHasLocks(stack: Stack): Promise<boolean> {
  const { traces } = (await stack.get(`/traces?${ENDPOINT}`)) as Listed;
  const newest = traces.find(({ spans, errors }) => spans === 37 + errors);
  if (newest === undefined) return false;
  const { threads } = (await stack.get(`/traces/${newest.trace_id}`)) as Detail;
  return threads.some(({ locks }) => locks.length > 0);
}

test("the difference leads to the request, its span, the mutex, and the thread's time on Live", async ({
  signedIn: page,
  stack,
}) => {
  // The first start builds HotROD, if no other test has.
  test.setTimeout(600_000);
  const without = await Hotrod.start(stack, "-M");
  await without.load(10, CLIENTS);
  await received(stack, 10);
  await without.stop();
  const mutexed = await Hotrod.start(stack);
  const target = (await stack.send("POST", "/targets", { pid: mutexed.pid, rate_hz: 20 })) as {
    id: string;
  };
  // The collector reads the program's lock profile every ten seconds, and the first reading has no
  // interval. Two clients wait less for each other than the five below.
  do {
    await mutexed.load(6, 2);
  } while (!(await newestHasLocks(stack)));
  await mutexed.load(20, CLIENTS);
  await received(stack, 36);

  await page.goto(`${stack.url}/traces`);
  await page
    .getByRole("table", { name: "Endpoints" })
    .getByRole("link", { name: "/dispatch" })
    .click();
  await page.locator("label", { hasText: /^Difference$/ }).click();
  await page.getByRole("button", { name: "Before and after the pause" }).click();
  await expect(page.locator("[data-lead]")).toContainText("mysql SQL SELECT grew most");
  const changes = page.getByRole("table", { name: "Changes" });
  await changes.locator('tr[data-key="mysql SQL SELECT"]').getByRole("link").first().click();

  await expect(page).toHaveURL(/\/traces\/[0-9a-f]{32}$/);
  const path = page.getByRole("table", { name: "Spans of the critical path" });
  await expect(path.getByRole("row").nth(1)).toContainText("mysql SQL SELECT");
  const meanwhile = page.getByRole("region", { name: "Threads meanwhile" });
  await expect(async () => {
    await page.reload();
    await expect(meanwhile.getByRole("list", { name: /^Locks/ })).toContainText(
      "tracing.(*Mutex).Unlock",
    );
  }).toPass();
  await expect(meanwhile).toContainText(/Locks?\D*[1-9]/);
  await meanwhile.getByRole("link", { name: /on Live at that time/ }).click();

  await expect(page).toHaveURL(new RegExp(`/\\?target=${target.id}&from=`));
  await expect(page.getByRole("button", { name: /^Zoomed to/ })).toBeVisible();
  await mutexed.stop();
});
