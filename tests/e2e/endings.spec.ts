import { LivePage } from "./fixtures/livePage";
import { Program } from "./fixtures/program";
import { expect, test } from "./fixtures/test";

test("when the process ends, its charts and totals stay", async ({ watching, program }) => {
  const { page } = watching;
  await program.quit();
  await expect(page.getByText("The process has exited")).toBeVisible();
  await expect(page.getByText(/exit code 3\.|exit status unknown/).first()).toBeVisible();
  const lives = page.getByRole("group", { name: "Live and exited threads" });
  await lives.getByText("Exited", { exact: true }).click();
  await expect(watching.row("burner")).toContainText("exited");
  expect(await watching.number("burner", "total:cpu_run_ns")).toBeGreaterThan(0);

  await page.getByRole("button", { name: "Attach to the same command again" }).click();
  await expect(page.getByRole("alert")).toContainText("No process with this command is running");
  const next = await Program.start();
  try {
    await page.getByRole("button", { name: "Attach to the same command again" }).click();
    await expect(page).toHaveURL(new RegExp(`\\?target=t-${next.pid}-`));
    await watching.ready();
  } finally {
    await next.kill();
  }
});

test("the view goes on after the backend was killed and started again", async ({
  watching: live,
  site,
}) => {
  const { page } = live;
  await site.killBackend();
  await expect(page.getByText("Connection to the backend lost")).toBeVisible();
  await expect(page.getByTestId("retry")).toHaveText(/Retrying/);
  await expect(live.row("burner")).toBeVisible();
  const before = await live.number("burner", "total:cpu_run_ns");

  await site.startBackend();
  await page
    .getByRole("button", { name: "Retry now" })
    .click({ timeout: 1000 })
    // It may have come back by itself in between.
    .catch(() => undefined);
  await expect(page.locator("[data-connection=open]")).toBeVisible();
  await expect(page.getByText("Connection to the backend lost")).toBeHidden();
  await expect.poll(() => live.number("burner", "total:cpu_run_ns")).toBeGreaterThan(before + 0.3);
  // The collector sends again what it sampled meanwhile: nothing is missing, or the page says so.
  await page.locator("[data-quality]").click();
  const health = page.getByRole("region", { name: "Data quality" });
  const missing = (await health.getByText(/^\d+ in \d+ gaps$/).textContent()) ?? "";
  if (!missing.startsWith("0 ")) {
    await expect(page.locator("[data-event=gap]").first()).toBeVisible();
  }
});

test("says that no collector is connected, and goes on when one is", async ({
  signedIn: page,
  site,
  program,
}) => {
  await expect(page.getByRole("heading", { name: "Attach to a process" })).toBeVisible();
  await site.killCollector();
  await expect(page.getByRole("heading", { name: "No collector is connected" })).toBeVisible();
  await expect(page.getByText("sudo tidscope up")).toBeVisible();
  await site.startCollector();
  await new LivePage(page, site).open(program.pid);
});
