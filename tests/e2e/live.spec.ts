/** A live target: its numbers, its rate, its end, and what happens without backend or collector. */

import { LivePage } from "./fixtures/livePage";
import { Program } from "./fixtures/programs";
import { expect, test } from "./fixtures/test";

test("a deep link to a pid shows the process, its busiest thread on top, with the kernel's numbers", async ({
  watching,
  program,
}) => {
  const { page } = watching;
  await expect(page).toHaveURL(new RegExp(`\\?target=t-${program.pid}-[0-9a-f]{8}(&|$)`));
  await expect(page.getByRole("heading", { name: "steady_work" })).toBeVisible();
  await expect(page.locator("header").filter({ hasText: `pid ${program.pid}` })).toBeVisible();
  await expect(watching.tile("threads")).toContainText("13");
  await expect(watching.tile("cpu")).toContainText(/\d m?cores/);

  await expect(watching.rowAt(0)).toHaveText("burner");
  // The burner may not lead by role: on a busy machine the workers' sum may exceed it.
  const roles = watching.panel("cpu").getByRole("listitem");
  await expect(roles.filter({ hasText: "burner" })).toBeVisible();
  await expect(watching.panel("cpu").getByRole("img")).toHaveAttribute("aria-label", /burner/);
  // The burner burns 5 ms and sleeps 15 ms; on a busy machine it gets less.
  // A stall of a virtual machine counts as CPU time of the thread that was on the CPU.
  const rate = () => watching.number("burner", "rate:cpu_run_ns");
  await expect.poll(async () => (await rate()) > 0 && (await rate()) < 0.5).toBe(true);
  expect(await watching.number("sleeper-1", "rate:cpu_run_ns")).toBe(0);
  // The total lies between two readings of the kernel; the page shows three digits.
  const before = program.cpuSeconds("burner");
  const total = () => watching.number("burner", "total:cpu_run_ns");
  await expect.poll(total).toBeGreaterThan(before);
  expect(await total()).toBeLessThan(1.01 * program.cpuSeconds("burner"));
});

test("network numbers, where they come from, and what they mean", async ({ watching }) => {
  const { page } = watching;
  const fact = page.locator("[data-fact=Network]");
  await expect(fact).toContainText("eBPF");
  // Scrolling hides tooltips, also the scrolling that hovering causes.
  await expect(async () => {
    await page.mouse.move(0, 0);
    await fact.locator("dd span").hover();
    await expect(page.getByText(/socket payload, not wire bytes/).first()).toBeVisible({
      timeout: 2000,
    });
  }).toPass();
  await expect(watching.cell("writer", "total:net_read_bytes")).toHaveText(/^[1-9]/);
  await expect(watching.cell("writer", "total:net_write_bytes")).toHaveText(/^[1-9]/);
  await expect(watching.cell("sleeper-1", "total:net_read_bytes")).toHaveText(/^0/);
  const tile = page.locator("[data-tile=network]");
  await expect(tile).toHaveAttribute("data-state", "ok");
  await expect(tile).toContainText(/\d.* in.*\d.* out/s);
  for (const chart of ["network", "network_calls"]) {
    await expect(
      watching
        .panel(chart)
        .getByRole("button", { name: /writer/ })
        .first(),
    ).toBeVisible();
  }
});

test("the rate can be changed, and is what arrives", async ({ watching }) => {
  const { page } = watching;
  await page.getByRole("combobox", { name: "Rate" }).selectOption({ label: "20 Hz" });
  await expect(page.locator("[data-event=rate_changed]")).toContainText("from 10 to 20");
  await page.locator("[data-quality]").click();
  // More than the previous 10 Hz; on a busy machine some samples are late.
  const quality = page.getByRole("region", { name: "Data quality" });
  await expect(quality).toContainText(/1[1-9]\.\d of 20 Hz|20\.\d of 20 Hz/);
  await expect(quality).toContainText("Counters fromeBPF walk");
});

test("detaching ends the stream, and attaching again begins a new one", async ({ watching }) => {
  const { page } = watching;
  const before = page.url();
  await page.getByRole("button", { name: "Detach" }).click();
  await expect(page.getByText("Detached", { exact: true })).toBeVisible();
  await expect(watching.row("burner")).toBeVisible();
  await page.getByRole("button", { name: "Attach again" }).click();
  await expect(page).not.toHaveURL(before);
  await watching.ready();
});

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
  stack,
}) => {
  const { page } = live;
  await stack.killBackend();
  await expect(page.getByText("Connection to the backend lost")).toBeVisible();
  await expect(page.getByTestId("retry")).toHaveText(/Retrying/);
  await expect(live.row("burner")).toBeVisible();
  const before = await live.number("burner", "total:cpu_run_ns");

  await stack.startBackend();
  await page
    .getByRole("button", { name: "Retry now" })
    .click({ timeout: 1000 })
    // The page may have reconnected by itself.
    .catch(() => undefined);
  await expect(page.locator("[data-connection=open]")).toBeVisible();
  await expect(page.getByText("Connection to the backend lost")).toBeHidden();
  await expect.poll(() => live.number("burner", "total:cpu_run_ns")).toBeGreaterThan(before + 0.3);
  // The collector resends samples taken meanwhile; the page shows any that are missing as gaps.
  await page.locator("[data-quality]").click();
  const health = page.getByRole("region", { name: "Data quality" });
  const missing = (await health.getByText(/^\d+ in \d+ gaps$/).textContent()) ?? "";
  if (!missing.startsWith("0 ")) {
    await expect(page.locator("[data-event=gap]").first()).toBeVisible();
  }
});

test("says that no collector is connected, and goes on when one is", async ({
  signedIn: page,
  stack,
  program,
}) => {
  await expect(page.getByRole("heading", { name: "Attach to a process" })).toBeVisible();
  await stack.killCollector();
  await expect(page.getByRole("heading", { name: "No collector is connected" })).toBeVisible();
  await expect(page.getByText("sudo tidscope up")).toBeVisible();
  await stack.startCollector();
  await new LivePage(page, stack).open(program.pid);
});
