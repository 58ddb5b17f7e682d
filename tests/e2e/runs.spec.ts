/** Runs: recorded, opened, compared, shared, exported, deleted and restored. */

import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { LivePage } from "./fixtures/livePage";
import { DEMO_RUN, STEERED_RUN } from "./fixtures/runs";
import type { Stack } from "./fixtures/stack";
import { expect, test } from "./fixtures/test";

/** Response of GET /runs, as far as tests read it. */
interface Listed {
  readonly runs: readonly {
    readonly id: string;
    readonly name: string;
    readonly state: string;
    readonly counts: { readonly frames: number };
  }[];
  readonly deleted: readonly { readonly id: string }[];
}

test.describe.configure({ mode: "serial" });

/** Runs of 10 and of 50 samples a second. */
const ids: string[] = [];

test.beforeAll(({ shared }) => shared.deleteRuns());

const listed = async (stack: Stack) => (await stack.get("/runs")) as Listed;
const row = (page: Page, id: string) => page.locator(`[data-run="${id}"]`);

/** Record a number of frames, and open the run. */
async function recorded(live: LivePage, frames: number): Promise<string> {
  const { page } = live;
  await page.getByRole("button", { name: "Record", exact: true }).click();
  await expect(page.getByRole("button", { name: /^Stop recording/ })).toBeVisible();
  await live.frames(frames);
  await page.getByRole("button", { name: /^Stop recording/ }).click();
  await page.getByRole("button", { name: "Open", exact: true }).last().click();
  await expect(page).toHaveURL(/\/runs\/r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$/);
  const id = page.url().split("/").at(-1) ?? "";
  await expect(page.locator("[data-reading]")).toHaveAttribute("data-reading", "ready");
  return id;
}

test("two runs of a program are recorded at different rates", async ({
  watching: live,
  stack,
  program,
}) => {
  const { page } = live;
  await page.getByRole("button", { name: "Record", exact: true }).click();
  // Every page shows the recording.
  await page.getByRole("link", { name: "Doctor" }).click();
  await expect(page.getByRole("status", { name: "Recording" })).toContainText("steady_work");
  await page.goBack();
  await live.frames(40);
  await page.getByRole("button", { name: /^Stop recording/ }).click();
  await page.getByRole("button", { name: "Open", exact: true }).click();
  await expect(page).toHaveURL(/\/runs\/r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$/);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("steady_work");
  ids.push(page.url().split("/").at(-1) ?? "");
  await live.open(program.pid);
  await page.getByRole("combobox", { name: "Rate" }).selectOption("50");
  await expect(page.getByRole("combobox", { name: "Rate" })).toHaveValue("50");
  ids.push(await recorded(live, 60));
  const states = async () => (await listed(stack)).runs.map(({ state }) => state);
  await expect.poll(states).toEqual(["complete", "complete"]);
  expect((await listed(stack)).runs.map(({ id }) => id)).toEqual([...ids].reverse());
  await expect(page.getByRole("button", { name: /^Stop recording/ })).toHaveCount(0);
});

test("a run is seen as it was live, down to its samples", async ({ page, stack }) => {
  await page.goto(stack.signingIn(`/runs/${ids[0]}`));
  const reading = page.locator("[data-reading]");
  await expect(reading).toHaveAttribute("data-reading", "ready");
  const live = new LivePage(page, stack);
  await live.ready();
  await expect(page.locator('[data-panel="cpu"] [data-state]')).toHaveAttribute("data-state", "ok");
  await expect(page.getByRole("region", { name: "Where the time goes" })).toBeVisible();
  // A run has no controls of live targets.
  for (const name of ["Steer", "Record", "Detach"]) {
    await expect(page.getByRole("button", { name, exact: true })).toHaveCount(0);
  }
  const bar = page.getByRole("slider", { name: "Visible part of the run" });
  await bar.focus();
  for (let press = 0; press < 8; press++) {
    await page.keyboard.press("+");
  }
  await expect(reading).toHaveAttribute("data-raw", "true");
  await expect(reading).toContainText("every sample");
  const before = await bar.getAttribute("aria-valuetext");
  await page.keyboard.press("ArrowRight");
  await expect(bar).not.toHaveAttribute("aria-valuetext", before ?? "");
  await page.keyboard.press("End");
  const end = await bar.getAttribute("aria-valuetext");
  await page.keyboard.press("Home");
  await expect(bar).not.toHaveAttribute("aria-valuetext", end ?? "");
  // The run plays from here and stops at its end.
  await page.getByText("60×").click();
  await page.getByRole("button", { name: "Play" }).click();
  await expect(bar).toHaveAttribute("aria-valuetext", end ?? "");
  await expect(page.getByRole("button", { name: "Play" })).toBeVisible();
  await page.getByRole("button", { name: "Whole run" }).click();
  await expect(reading).toContainText("all ");
});

test("what people say of a run is kept", async ({ page, stack }) => {
  await page.goto(stack.signingIn(`/runs/${ids[0]}`));
  await page.getByRole("button", { name: /^Name: / }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("slow sampling");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("slow sampling");
  await page.getByRole("button", { name: /^Tags: / }).click();
  await page.getByRole("textbox", { name: "Tags" }).fill("steady, first");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("button", { name: /^Tags: / })).toHaveText(/steady.*first/);
  await page.getByLabel("Text of a new mark").fill("here it begins");
  await page.getByRole("button", { name: /^Mark at / }).click();
  const marks = page.getByRole("region", { name: "Marks" });
  await expect(marks.getByRole("listitem")).toHaveCount(1);
  await page.reload();
  await expect(marks.getByRole("listitem")).toContainText("here it begins");
  await marks.getByRole("button", { name: "Go to here it begins" }).click();
  await expect(page.getByRole("button", { name: /^Tags: / })).toHaveText(/steady.*first/);

  await page.goto(`${stack.url}/runs/${ids[1]}`);
  await page.getByRole("button", { name: /^Name: / }).click();
  await page.getByRole("textbox", { name: "Name" }).fill("fast sampling");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { level: 1 })).toContainText("fast sampling");
});

test("they are found, and compared; the link shows the same to somebody else", async ({
  signedIn: page,
  stack,
  browser,
}) => {
  await page.keyboard.press("g");
  await page.keyboard.press("r");
  await expect(page.getByRole("row")).toHaveCount(3);
  await page.keyboard.press("/");
  await expect(page.getByRole("searchbox")).toBeFocused();
  await page.keyboard.type("first");
  await expect(row(page, ids[1] ?? "")).toHaveCount(0);
  await expect(row(page, ids[0] ?? "")).toContainText("slow sampling");
  await page.getByRole("searchbox").fill("");
  for (const name of ["slow sampling", "fast sampling"]) {
    await page.getByRole("checkbox", { name: `Compare ${name}` }).check();
  }
  await page.getByRole("button", { name: "Compare 2" }).click();
  const setup = page.getByRole("region", { name: "Setup" });
  // The rates of both runs, in either order.
  await expect(setup.getByRole("row").filter({ hasText: "samples a second" })).toHaveText(
    /a second(10.*50|50.*10)$/,
  );
  const differences = page.getByRole("region", { name: "Differences" });
  const cpu = differences.locator('[data-metric="cpu_run_ns"][data-role=""]');
  await expect(cpu).toContainText(/(more|less|equal|no clear difference)/);
  await page.getByText("Side by side").click();
  await expect(page.getByRole("region", { name: "Curves" }).getByRole("img")).toHaveCount(2);
  await differences.getByText("Roles", { exact: true }).click();
  await differences.getByRole("searchbox").fill("cpu burner");
  const burner = differences.locator('[data-metric="cpu_run_ns"][data-role="burner"]');
  await expect(burner).toBeVisible();
  await expect(page).toHaveURL(/layout=each.*filter=cpu\+burner/);

  const other = await browser.newContext();
  const second = await other.newPage();
  await second.goto(stack.urlToWatch);
  await expect(second.locator("[data-connection=open]")).toBeVisible();
  // The other person knows the address only.
  await second.goto(page.url());
  await expect(second.getByRole("region", { name: "Curves" }).getByRole("img")).toHaveCount(2);
  const theirs = second.getByRole("region", { name: "Differences" });
  await expect(theirs.getByRole("searchbox")).toHaveValue("cpu burner");
  await expect(theirs.locator('[data-metric="cpu_run_ns"]')).toHaveText(
    (await burner.textContent()) ?? "",
  );
  // A viewer cannot delete runs.
  await second.goto(`${stack.url}/runs`);
  await expect(second.getByRole("button", { name: "Delete slow sampling" })).toBeDisabled();
  await other.close();
});

test("two windows of one run are compared, with intervals", async ({ page, stack }) => {
  // Two policies steer this run, one after the other.
  const id = await stack.importedRun(STEERED_RUN);
  await page.goto(stack.signingIn(`/runs/${id}`));
  await expect(page.locator("[data-reading=ready]")).toBeVisible();
  await page.keyboard.press("+");
  await page.keyboard.press("[");
  await page.getByRole("button", { name: "Window A", exact: true }).click();
  await expect(page).toHaveURL(/[?&]a=[0-9.]+-[0-9.]+/);
  const compare = page.getByRole("button", { name: "Compare A with this window" });
  await expect(compare).toBeDisabled();
  await page.keyboard.press("]");
  await page.keyboard.press("]");
  await compare.click();
  await expect(page).toHaveURL(new RegExp(`/compare\\?runs=${id}@[0-9.]+-[0-9.]+,${id}@`));
  const cpu = page.locator('[data-metric="cpu_run_ns"][data-role=""]');
  await expect(cpu).toContainText("±");
  // The program used both CPUs with four workers, and one CPU with one.
  await page.goto(`${stack.url}/compare?runs=${id}@13-17,${id}@31-36`);
  await expect(page.locator("[data-lead]").first()).toContainText(/ (higher|lower) .* in 31–36 s/);
  await expect(page.getByRole("region", { name: "Largest differences" })).toContainText(
    "95 % confidence interval",
  );
  // The edit button sets another window for a side.
  await page
    .getByRole("button", { name: /^Window of .*Edit$/ })
    .first()
    .click();
  await page.getByRole("textbox", { name: /^Window of/ }).fill("0 - 5 s");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`runs=${id}@0-5,`));
  await expect(page.getByRole("region", { name: "Groups" })).toContainText("0–5 s");
  await page.getByRole("link", { name: /0–5 s$/ }).click();
  await expect(page.locator("[data-reading=ready]")).toContainText(/^5\.[0-9] s|^4\.9 s/);
});

test("a run is exported, deleted, brought back, and imported", async ({ page, stack }) => {
  const [id = ""] = ids;
  await page.goto(stack.signingIn(`/runs`));
  await row(page, id)
    .getByRole("button", { name: /Export/ })
    .click();
  const coming = page.waitForEvent("download");
  await row(page, id)
    .getByRole("button", { name: /Folder/ })
    .click();
  const file = await (await coming).path();
  expect(readFileSync(file).readUInt32LE(0)).toBe(0xfd2fb528); // the magic number of zstd
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "Delete slow sampling" }).click();
  await expect(row(page, id)).toHaveCount(0);
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(row(page, id)).toBeVisible();

  await page.getByRole("button", { name: "Delete slow sampling" }).click();
  await expect(row(page, id)).toHaveCount(0);
  const { deleted } = await listed(stack);
  await page.getByText(`Deleted within the last hour: ${deleted.length}`).click();
  await expect(page.locator(`[data-deleted="${id}"]`)).toContainText("slow sampling");
  await page.getByRole("button", { name: "Restore slow sampling" }).click();
  await expect(row(page, id)).toBeVisible();

  const before = (await listed(stack)).runs.length;
  await page.locator('input[type="file"]').setInputFiles(file);
  await expect(page.getByText("Imported slow sampling.")).toBeVisible({ timeout: 120_000 });
  await expect.poll(async () => (await listed(stack)).runs.length).toBe(before + 1);
});

test("runs and links that are not there are said to be gone", async ({ page, stack }) => {
  await page.goto(stack.signingIn(`/runs/r-20200101-000000-000000`));
  await expect(page.getByText("Run not found")).toBeVisible();
  await page.goto(`${stack.url}/compare?runs=${ids[0]},r-20200101-000000-000000`);
  await expect(page.getByText("A run of this link was not found")).toBeVisible();
  await page.getByRole("button", { name: "Continue without" }).click();
  await expect(page.getByText("One run cannot be compared alone")).toBeVisible();
});

test("the table of a run lists the threads that exited before its end", async ({ page, stack }) => {
  const id = await stack.importedRun(DEMO_RUN);
  const { counts } = (await stack.get(`/runs/${id}`)) as { counts: { threads: number } };
  await page.goto(stack.signingIn(`/runs/${id}?tab=threads`));
  const threads = page.getByRole("region", { name: "Threads" });
  await expect(threads.getByRole("status")).toHaveText(`${counts.threads} threads`);
});
