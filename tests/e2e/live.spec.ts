import { expect, test } from "./fixtures/test";

test("the busiest thread is on top, with its share of a core", async ({ watching }) => {
  await expect(watching.rowAt(0)).toHaveText("burner");
  // It burns 5 ms and sleeps 5 ms; on a busy machine it gets less.
  await expect.poll(() => watching.number("burner", "rate:cpu_run_ns")).toBeGreaterThan(0.2);
  expect(await watching.number("burner", "rate:cpu_run_ns")).toBeLessThan(0.75);
  expect(await watching.number("sleeper-1", "rate:cpu_run_ns")).toBe(0);
  await expect(watching.panel("cpu").getByRole("listitem").first()).toContainText("burner");
  await expect(watching.panel("cpu").getByRole("img")).toHaveAttribute("aria-label", /burner/);
});

test("tells what is watched", async ({ watching, program }) => {
  const head = watching.page.getByRole("banner").or(watching.page.locator("header"));
  await expect(head.filter({ hasText: `pid ${program.pid}` })).toContainText("steady_work");
  await expect(watching.tile("threads")).toContainText("13");
  await expect(watching.tile("cpu")).toContainText(/0\.\d\d cores/);
});

test("another field puts another thread on top", async ({ watching }) => {
  const { page } = watching;
  await page.getByRole("columnheader", { name: "Disk written" }).getByRole("button").click();
  await expect(watching.rowAt(0)).toHaveText("writer");
  await page.getByRole("combobox", { name: "by" }).selectOption({ label: "Disk written" });
  await expect(watching.panel("cpu").getByRole("listitem").first()).toContainText("writer");
  await page.getByRole("combobox", { name: "by" }).selectOption({ label: "On-CPU time" });
  await page.getByRole("combobox", { name: "Lines" }).selectOption({ label: "top 5" });
  // Five threads and the others.
  await expect(watching.panel("cpu").getByRole("listitem")).toHaveCount(6);
});

test("pause stops the numbers while data goes on", async ({ watching }) => {
  const { page } = watching;
  const total = watching.cell("burner", "total:cpu_run_ns");
  await page.getByRole("button", { name: "Pause" }).click();
  await expect(page.getByText("Paused. Sampling continues.")).toBeVisible();
  // What was on its way when it was pressed may still arrive.
  await watching.frames(5);
  const frozen = (await total.textContent()) ?? "";
  await watching.frames(15);
  expect(await total.textContent()).toBe(frozen);

  await page.getByRole("button", { name: "Resume" }).click();
  await expect
    .poll(async () => Number.parseFloat((await total.textContent()) ?? ""))
    .toBeGreaterThan(Number.parseFloat(frozen) + 0.3);
});

test("filters by regular expression, and says when it is none", async ({ watching }) => {
  const { page } = watching;
  const filter = page.getByLabel("Filter threads");
  await filter.fill("^worker-[1-3]$");
  await expect(page.getByText("3 threads", { exact: true })).toBeVisible();
  await expect(watching.row("burner")).toHaveCount(0);
  await filter.fill("worker-[");
  await expect(page.getByRole("alert")).toContainText("Invalid regular expression");
  await filter.fill("no-such-thread");
  await expect(page.getByText("No matching threads.")).toBeVisible();
  await filter.fill("");
  await expect(watching.row("burner")).toBeVisible();
});

test("groups by role", async ({ watching }) => {
  await watching.page.getByText("Roles", { exact: true }).click();
  await expect(watching.row("worker-#")).toContainText("×6");
  await expect(watching.row("sleeper-#")).toContainText("×4");
});

test("a thread that is selected is highlighted in table and charts", async ({ watching }) => {
  const { page } = watching;
  await page.getByRole("button", { name: "sleeper-2", exact: true }).click();
  await expect(watching.row("sleeper-2")).toHaveAttribute("data-selected", "true");
  for (const chart of ["cpu", "cpu_total", "wait", "switches"]) {
    const entry = watching.panel(chart).getByRole("button", { name: /sleeper-2/ });
    await expect(entry).toHaveAttribute("aria-pressed", "true");
  }
  await page.getByRole("button", { name: "Clear selection and pins" }).click();
  await expect(watching.row("sleeper-2")).toHaveAttribute("data-selected", "false");
});

test("columns can be chosen, are explained, and are kept", async ({ watching }) => {
  const { page } = watching;
  await page.getByRole("button", { name: "Columns" }).click();
  const dialog = page.getByRole("dialog", { name: "Thread table columns" });
  await expect(dialog).toContainText("Times the thread was put on a CPU.");
  await expect(dialog).toContainText(/Interrupt delay.*Not here:/s);
  await dialog.getByLabel("Times scheduled, total").check();
  await dialog.getByLabel("Interrupt delay, total").check();
  await page.keyboard.press("Escape");
  await expect(watching.cell("burner", "total:cpu_count")).toHaveText(/^\d/);
  // Absent is not zero.
  const absent = watching.cell("burner", "total:irq_delay_ns");
  await expect(absent).toHaveText("–");
  await expect(absent).toHaveAttribute("title", /.+/);
  await page.reload();
  await expect(watching.cell("burner", "total:cpu_count")).toHaveText(/^\d/);
});

test("says why a chart is not there", async ({ watching }) => {
  await expect(watching.page.locator("[data-absent=gomaxprocs]")).toContainText(/Go/);
  await expect(watching.page.locator("[data-absent=blkio]")).toContainText(/\w/);
});

test("network numbers, where they come from, and what they mean", async ({ watching }) => {
  const { page } = watching;
  const fact = page.locator("[data-fact=Network]");
  await expect(fact).toContainText("eBPF");
  await fact.locator("dd span").hover();
  await expect(page.getByText(/socket payload, not wire bytes/).first()).toBeVisible();
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
  await expect(page.getByRole("region", { name: "Data quality" })).toContainText(
    /(19|20)\.\d of 20 Hz/,
  );
});

test("the windows of time", async ({ watching }) => {
  const shown = watching.page.getByRole("group", { name: "Time shown" });
  for (const label of ["30 s", "5 min", "All", "1 min"]) {
    await shown.getByText(label, { exact: true }).click();
    await expect(shown.getByRole("radio", { name: label })).toBeChecked();
  }
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
