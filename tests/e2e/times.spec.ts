import type { Page } from "@playwright/test";
import { canSwitch, isOn, switched } from "./fixtures/delaySwitch";
import { expect, test } from "./fixtures/test";
import { TimeParts } from "./fixtures/timeParts";

const panelOf = (page: Page) => page.getByRole("region", { name: "Where the time goes" });

/** Share of a part in the legend, percent; NaN if it is not available. */
async function share(page: Page, part: string): Promise<number> {
  const row = panelOf(page).locator(`tr[data-part=${part}]`);
  return (await row.count()) === 0
    ? Number.NaN
    : Number.parseFloat((await row.locator("td").first().textContent()) ?? "");
}

/** Shares of all parts that are there, percent. */
async function allShares(page: Page): Promise<number> {
  const cells = await panelOf(page)
    .locator("tr[data-available=true] td:nth-child(2)")
    .allTextContents();
  return cells.map((text) => Number.parseFloat(text)).reduce((sum, value) => sum + value, 0);
}

test("shares add up, and a press on a role shows that role", async ({ watching }) => {
  test.setTimeout(120_000);
  const { page } = watching;
  const panel = panelOf(page);
  await expect(panel.locator("tr[data-part=cpu] td").first()).toHaveText(/%/);
  await expect.poll(() => allShares(page)).toBeGreaterThan(99);
  expect(await allShares(page)).toBeLessThan(101);
  await expect(panel.getByRole("img")).toHaveAttribute("aria-label", /all threads: .*rest/);

  const bar = panel.getByRole("button", { name: /^burner/ });
  await bar.click();
  await expect(panel.locator("[data-scope=role]")).toContainText("of burner");
  await expect(bar).toHaveAttribute("aria-pressed", "true");
  await expect.poll(() => share(page, "cpu")).toBeGreaterThan(5);
  await expect(panel.getByRole("img")).toHaveAttribute("aria-label", /burner: /);

  // A thread selected in the table is what all charts are of.
  await watching.row("sleeper-1").getByRole("button", { name: "sleeper-1", exact: true }).click();
  await expect(panel.locator("[data-scope=thread]")).toContainText("of sleeper-1");
  await expect.poll(() => share(page, "cpu")).toBeLessThan(2);
  await panel.getByRole("button", { name: "Show all" }).click();
  await expect(panel.locator("[data-scope=process]")).toContainText("of all threads");
});

test("live and ended threads are held against the process", async ({ watching }) => {
  const { page } = watching;
  await page.locator("[data-quality]").click();
  const health = page.getByRole("region", { name: "Data quality" });
  await expect(health).toContainText(/process [±+−] 0\.\d\d % of/);
});

test("what is not available is said, not shown as 0", async ({ signedIn, site }) => {
  test.skip(!canSwitch(), "needs root and a kernel with task_delayacct");
  await switched(false, async () => {
    const program = await TimeParts.start();
    try {
      await signedIn.goto(`${site.url}/?pid=${program.pid}`);
      const panel = panelOf(signedIn);
      for (const part of ["blkio", "swapin", "memory"]) {
        const row = panel.locator(`tr[data-part=${part}]`);
        await expect(row).toContainText("not available");
      }
      await expect(panel.locator("tr[data-part=unsplit]")).toContainText(/%/);
      await expect(panel.locator("tr[data-part=rest]")).toHaveCount(0);
      await expect(panel.locator("[data-reason=blkio]")).toContainText("switch it on in Doctor");
    } finally {
      await program.kill();
    }
  });
});

test("delay accounting is switched from Doctor, and then waits are told apart", async ({
  signedIn,
  site,
}) => {
  test.skip(!canSwitch(), "needs root and a kernel with task_delayacct");
  test.setTimeout(240_000);
  await switched(false, async () => {
    await signedIn.goto(`${site.url}/doctor`);
    const card = signedIn.locator("[data-check=delay-accounting]");
    await expect(card).toContainText("Only threads that start afterwards have delays");
    await card.getByRole("button", { name: "Turn on delay accounting" }).click();
    await expect(card).toHaveAttribute("data-state", "ok");
    expect(isOn()).toBe(true);
    const program = await TimeParts.start();
    try {
      await signedIn.goto(`${site.url}/?pid=${program.pid}`);
      const panel = panelOf(signedIn);
      await panel.getByRole("button", { name: /^disk/ }).click();
      await expect(panel.locator("[data-scope=role]")).toContainText("of disk");
      await expect.poll(() => share(signedIn, "blkio")).toBeGreaterThan(1);
      // All that it does is computing, waiting for its turn, and waiting for the disk.
      await expect.poll(() => share(signedIn, "rest")).toBeLessThan(25);
      await panel.getByRole("button", { name: /^crowd-#/ }).click();
      await expect.poll(() => share(signedIn, "queue")).toBeGreaterThan(30);
      expect(await share(signedIn, "blkio")).toBe(0);
      await panel.getByRole("button", { name: /^sleeper/ }).click();
      await expect.poll(() => share(signedIn, "rest")).toBeGreaterThan(80);
      await expect(panel.locator("tr[data-part=unsplit]")).toHaveCount(0);
    } finally {
      await program.kill();
    }
    await signedIn.goto(`${site.url}/doctor`);
    await card.getByRole("button", { name: "Turn off delay accounting" }).click();
    await expect(card).toHaveAttribute("data-state", "limited");
    expect(isOn()).toBe(false);
  });
});

test("a refusal to switch is shown with what to do", async ({ signedIn, site }) => {
  await signedIn.route("**/api/v1/doctor/delay-accounting*", (route) =>
    route.fulfill({
      status: 403,
      contentType: "application/problem+json",
      body: JSON.stringify({
        type: "urn:tidscope:problem:not-permitted",
        title: "The kernel does not permit it",
        status: 403,
        detail: "kernel.task_delayacct cannot be written: Read-only file system",
        hint: "On the host: sudo sysctl -w kernel.task_delayacct=1",
      }),
    }),
  );
  await signedIn.goto(`${site.url}/doctor`);
  const card = signedIn.locator("[data-check=delay-accounting]");
  await card.getByRole("button", { name: /delay accounting$/ }).click();
  await expect(card.getByRole("alert")).toContainText("Read-only file system");
  await expect(card.getByRole("alert")).toContainText("sudo sysctl -w");
});
