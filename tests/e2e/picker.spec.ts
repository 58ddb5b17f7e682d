import { existsSync } from "node:fs";
import { LivePage } from "./fixtures/livePage";
import { expect, test } from "./fixtures/test";

/** The parent of all kernel threads; not to be seen from inside a PID namespace. */
const KTHREADD = 2;
const seesKernelThreads = !existsSync(`/proc/${KTHREADD}/exe`) && existsSync(`/proc/${KTHREADD}`);

test("finds a process by its words and attaches with one click", async ({
  signedIn,
  site,
  program,
}) => {
  const search = signedIn.getByLabel("Search processes");
  await search.fill(`steady_work ${program.pid}`);
  const row = signedIn.locator(`[data-pid="${program.pid}"]`);
  await expect(row).toContainText("steady_work");
  await expect(row).toContainText("native");
  await expect(row).toContainText("13");
  await row.getByRole("button").click();
  await expect(signedIn).toHaveURL(new RegExp(`\\?target=t-${program.pid}-[0-9a-f]{8}$`));
  await new LivePage(signedIn, site).ready();
});

test("keyboard alone: search, arrow down, Enter", async ({ signedIn, site, program }) => {
  await expect(signedIn.getByRole("table")).toBeVisible();
  await signedIn.keyboard.press("/");
  await expect(signedIn.getByLabel("Search processes")).toBeFocused();
  await signedIn.keyboard.type(String(program.pid));
  await expect(signedIn.locator(`[data-pid="${program.pid}"]`)).toBeVisible();
  await signedIn.keyboard.press("ArrowDown");
  const first = signedIn.locator('[data-row="0"]');
  await expect(first).toBeFocused();
  await expect(first).toHaveAccessibleName(`Attach to steady_work, pid ${program.pid}`);
  await signedIn.keyboard.press("Enter");
  await new LivePage(signedIn, site).ready();
});

test("shows the busy program near the top, and its CPU", async ({ signedIn, program }) => {
  await signedIn.getByLabel("Search processes").fill(String(program.pid));
  const row = signedIn.locator(`[data-pid="${program.pid}"]`);
  // Burner and workers: about 60 % of a core; the first listing has no CPU yet.
  await expect(row).toContainText(/[3-9][0-9]\.[0-9] %/);
});

test("says that no process fits", async ({ signedIn }) => {
  await signedIn.getByLabel("Search processes").fill("no-such-program-anywhere");
  await expect(signedIn.getByText("No matching process")).toBeVisible();
  await signedIn.getByRole("button", { name: "Show all" }).click();
  await expect(signedIn.getByRole("table")).toBeVisible();
});

test("refuses a kernel thread, and says why", async ({ signedIn, site }) => {
  test.skip(!seesKernelThreads, "kernel threads are not to be seen from this PID namespace");
  await signedIn.getByLabel("Search processes").fill("kthreadd");
  const row = signedIn.locator(`[data-pid="${KTHREADD}"]`);
  await expect(row.getByRole("button")).toHaveAttribute("aria-disabled", "true");
  await expect(row).toContainText(/kernel thread/i);
  // A click would wait until it is enabled.
  await row.getByRole("button").press("Enter");
  await expect(signedIn.getByRole("alert")).toContainText(/kernel thread/i);
  await expect(signedIn).toHaveURL(`${site.url}/`);

  await signedIn.goto(`${site.url}/?pid=${KTHREADD}`);
  await expect(signedIn.getByRole("alert")).toContainText(/kernel thread/i);
  await expect(signedIn.getByRole("heading", { name: "Attach to a process" })).toBeVisible();
});

test("a deep link to a pid attaches at once", async ({ watching, program }) => {
  await expect(watching.page).toHaveURL(new RegExp(`\\?target=t-${program.pid}-[0-9a-f]{8}$`));
  await expect(watching.page.getByRole("heading", { name: "steady_work" })).toBeVisible();
});

test("deep links that lead nowhere say so", async ({ signedIn, site }) => {
  await signedIn.goto(`${site.url}/?pid=4194304`);
  await expect(signedIn.getByRole("alert")).toContainText("4194304");
  await signedIn.goto(`${site.url}/?pid=abc`);
  await expect(signedIn.getByText('"abc" is not a process id.')).toBeVisible();
  await signedIn.goto(`${site.url}/?target=t-1-00000000`);
  await expect(signedIn.getByText("Unknown target")).toBeVisible();
});

test("lists what is attached already on top, and opens it again", async ({ watching, program }) => {
  const { page } = watching;
  await page.getByRole("button", { name: "Switch process" }).click();
  const target = page.locator(`[data-target^="t-${program.pid}-"]`);
  await expect(target).toContainText("attached");
  await target.getByRole("link").click();
  await watching.ready();
});

test("starts the demo and stops it", async ({ signedIn }) => {
  await signedIn.getByRole("button", { name: "Start the demo" }).click();
  await expect(signedIn.getByRole("button", { name: "Stop the demo" })).toBeVisible();
  await expect(signedIn.locator('[data-tile="cpu"]')).toContainText(/\d/);
  await signedIn.getByRole("button", { name: "Stop the demo" }).click();
  await expect(signedIn.getByText(/The process has exited|^Detached$/)).toBeVisible();
});
