import { act, screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { FakeBackend } from "../../testing/backend";
import { TARGET } from "../../testing/frames";
import { steadyWork } from "../../testing/ledgers";
import { TestPage } from "../../testing/TestPage";

/** The steady program, with a burner that is idle for ten seconds and busy for ten. */
async function burning(): Promise<TestPage> {
  const page = await TestPage.open(`/?target=${TARGET.id}`, { backend: new FakeBackend() });
  for (let i = 0; i <= 40; i++) {
    const t_s = i / 2;
    const rows = steadyWork(t_s, i === 0).map((row) => {
      if (row.tid !== 2) return row;
      const cpu_run_ns = 8e8 * Math.max(0, t_s - 10);
      return { ...row, counters: { ...row.counters, cpu_run_ns, cpu_delay_ns: 0 } };
    });
    await page.frame(rows, { t_s });
  }
  await page.settle();
  return page;
}

const zoom = (page: TestPage, t0_s: number, t1_s: number) =>
  act(() => page.client.request({ window: { kind: "fixed", t0_s, t1_s } }));

it("says what changed between a window and the time before it, by role", async () => {
  const page = await burning();
  await zoom(page, 10, 20);
  await page.click(screen.getByRole("button", { name: "Compare with the 10 s before" }));
  await page.pass(3000);
  const panel = page.region("What changed");
  panel.getByText("The 10 s in view against the 10 s before.");
  panel.getByText("0.800 threads of burner ran on average, none before.");
  const [times] = panel.getAllByRole("table");
  const rows = within(times as HTMLElement).getAllByRole("row");
  const cells = (row: HTMLElement | undefined) =>
    row === undefined ? [] : [...row.children].map((cell) => cell.textContent?.trim());
  expect(cells(rows[1])).toEqual(["burner", "Running", "0", "0.800", "▲ +0.800", "new"]);
  expect(cells(rows[2])).toEqual([
    "burner",
    "Other (not measured)",
    "1.00",
    "0.200",
    "▼ −0.800",
    "0.200 ×",
  ]);
  expect(rows).toHaveLength(3);
  await page.click(panel.getByRole("button", { name: "Close" }));
  expect(screen.queryByRole("region", { name: "What changed" })).toBeNull();
});

it("answers for a window in tiles and table, and by keys", async () => {
  const page = await burning();
  const cpu = () => page.one("[data-tile=cpu]").textContent;
  const burner = () => page.cell("burner", "rate:cpu_run_ns").textContent;
  await zoom(page, 2, 8);
  await page.settle();
  expect(burner()).toBe("0");
  expect(cpu()).toContain("130 mcores".split(" ")[0]);
  await zoom(page, 12, 18);
  await page.settle();
  expect(burner()).toBe("0.800");
  // Back by half of the window, shorter, and live again.
  await page.press("[[");
  expect(page.client.view.get().window).toEqual({ kind: "fixed", t0_s: 9, t1_s: 15 });
  await page.press("+");
  expect(page.client.view.get().window).toEqual({ kind: "fixed", t0_s: 10, t1_s: 14 });
  await page.press("b");
  page.region("What changed");
  await page.press("0");
  expect(page.client.view.get().window).toEqual({ kind: "last", seconds: 60 });
});

it("says in a tile what is far above its own past", async () => {
  const page = await TestPage.open(`/?target=${TARGET.id}`, { backend: new FakeBackend() });
  for (let t_s = 0; t_s <= 70; t_s++) {
    const rows = steadyWork(t_s, t_s === 0).map((row) => {
      const burnt = 2e8 * t_s + 2e9 * Math.max(0, t_s - 60);
      return row.tid === 2 ? { ...row, counters: { ...row.counters, cpu_run_ns: burnt } } : row;
    });
    await page.frame(rows, { t_s });
  }
  await page.settle();
  const tile = page.one("[data-tile=cpu]");
  const judged = tile.querySelector<HTMLElement>("[data-level]");
  expect(judged?.dataset.level).toBe("far_high");
  expect(judged?.textContent).toMatch(
    /Far higher than usual.*: the median of the .* before is 0\.330 cores\./,
  );
  expect(page.one("[data-tile=switches]").querySelector("[data-level=usual]")).not.toBeNull();
});
