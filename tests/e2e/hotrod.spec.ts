/** From a slow endpoint of real services down to the mutex: difference, request, span, thread. */

import { Hotrod } from "./fixtures/hotrod";
import type { Site } from "./fixtures/site";
import { expect, test } from "./fixtures/test";

const CLIENTS = 5;
const ENDPOINT = "service=frontend&operation=/dispatch";

// The first start builds it, if no other test has.
test.setTimeout(400_000);
test.use({ receivesSpans: true });

interface Listed {
  readonly traces: readonly {
    readonly trace_id: string;
    readonly spans: number;
    readonly errors: number;
  }[];
}

/** Wait until so many requests have come, and no more spans: they come once a second. */
async function received(site: Site, requests: number): Promise<void> {
  let before = -1;
  const settled = async () => {
    const { traces } = (await site.get(`/traces?${ENDPOINT}`)) as Listed;
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

/** Whether the newest request with all its spans (37, and one more for each failed call) has locks. */
async function newestHasLocks(site: Site): Promise<boolean> {
  const { traces } = (await site.get(`/traces?${ENDPOINT}`)) as Listed;
  const newest = traces.find(({ spans, errors }) => spans === 37 + errors);
  if (newest === undefined) return false;
  const { threads } = (await site.get(`/traces/${newest.trace_id}`)) as Detail;
  return threads.some(({ locks }) => locks.length > 0);
}

test("the difference leads to the request, its span, the mutex, and the thread's time on Live", async ({
  signedIn: page,
  site,
}) => {
  const without = await Hotrod.start(site, "-M");
  await without.load(10, CLIENTS);
  await received(site, 10);
  await without.stop();
  const mutexed = await Hotrod.start(site);
  const target = (await site.send("POST", "/targets", { pid: mutexed.pid, rate_hz: 20 })) as {
    id: string;
  };
  // Its own account of its locks is read every ten seconds, and what the first reading finds has
  // no beginning. Two clients wait less for each other than five will.
  do {
    await mutexed.load(6, 2);
  } while (!(await newestHasLocks(site)));
  await mutexed.load(20, CLIENTS);
  await received(site, 36);

  await page.goto(`${site.url}/traces`);
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
