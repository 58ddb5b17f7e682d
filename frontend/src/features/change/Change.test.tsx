import { act, screen, within } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { filterFrom } from "../../stream/rank";
import { TargetModel } from "../../stream/targetModel";
import { DEFAULT_REQUEST } from "../../stream/viewRequest";
import { spanBefore, windowChange } from "../../stream/windowChange";
import { FakeBackend } from "../../testing/backend";
import { frame, type Row, TARGET } from "../../testing/frames";
import { steadyWork } from "../../testing/ledgers";
import { TestPage } from "../../testing/TestPage";
import { changeSentences, changeText, ratioText, spansText } from "./ChangePanel";

/** The steady program, with a burner that is idle for ten seconds and busy for ten. */
async function burning(): Promise<TestPage> {
  const page = await TestPage.open(`/?target=${TARGET.id}&tab=all`, { backend: new FakeBackend() });
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
  expect(cpu()).toContain("0.130");
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
  const page = await TestPage.open(`/?target=${TARGET.id}&tab=all`, { backend: new FakeBackend() });
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
  expect(page.one("[data-tile=switches]").querySelector("[data-level=normal]")).not.toBeNull();
});

const SECOND = 1e9;

/** Growth of a counter at one rate until 10 s, and at another one afterwards. */
const grown = (t_s: number, before: number, after: number): number =>
  before * Math.min(t_s, 10) + after * Math.max(0, t_s - 10);

/**
 * Two workers: a tenth of a core each until 10 s, later half a core with CPU waits. A writer, ten
 * times as fast later. A helper, born at 13 s and asleep.
 */
function model(until_s = 20): TargetModel {
  const made = new TargetModel();
  for (let i = 0; i <= 2 * until_s; i++) {
    const t_s = i / 2;
    const worker = (tid: number): Row => ({
      tid,
      start_s: -5,
      name: `worker-${tid}`,
      counters: {
        cpu_run_ns: grown(t_s, 0.1, 0.5) * SECOND,
        cpu_delay_ns: grown(t_s, 0, 0.25) * SECOND,
        voluntary_switches: grown(t_s, 100, 20),
      },
    });
    const rows: Row[] = [
      worker(11),
      worker(12),
      {
        tid: 13,
        start_s: -5,
        name: "writer",
        counters: { cpu_run_ns: 0, disk_write_bytes: grown(t_s, 1e5, 1e6) },
      },
    ];
    if (t_s > 13) rows.push({ tid: 14, start_s: 13, name: "helper", counters: { cpu_run_ns: 0 } });
    made.ingest(frame({ seq: i + 1, t_s }, rows));
  }
  return made;
}

function change(t0_s: number, t1_s: number, filter = "", made = model()) {
  const request = { ...DEFAULT_REQUEST, window: { kind: "fixed", t0_s, t1_s } } as const;
  const input = { model: made, target: TARGET, request, filter: filterFrom(filter) };
  return windowChange({ ...input, span: { t0_s, t1_s }, now_s: made.now_s });
}

describe("what changed against the time before", () => {
  it("is of an equally long time, as far as it is known", () => {
    expect(spanBefore({ t0_s: 60, t1_s: 80 }, 0)).toEqual({ t0_s: 40, t1_s: 60 });
    expect(spanBefore({ t0_s: 60, t1_s: 80 }, 55)).toEqual({ t0_s: 55, t1_s: 60 });
  });

  it("has the largest difference first, by role and reason, in threads on average", () => {
    const { times, state } = change(10, 20);
    expect(state).toBe("ok");
    const rows = times.map(({ role, reason, before, after }) => [role, reason, before, after]);
    expect(rows).toEqual([
      ["worker-#", "unsplit", expect.closeTo(1.8), expect.closeTo(0.5)],
      ["worker-#", "running", expect.closeTo(0.2), expect.closeTo(1)],
      ["helper", "unsplit", 0, expect.closeTo(0.7)],
      ["worker-#", "runnable", 0, expect.closeTo(0.5)],
    ]);
    // Total time is conserved: time in one category comes from another, or from new threads.
    const sum = times.reduce((all, { before, after }) => all + after - before, 0);
    expect(sum).toBeCloseTo(0.7);
  });

  it("has bytes and switches, and threads, in relation", () => {
    const { figures } = change(10, 20);
    expect(figures.map(({ role, label, unit }) => [role, label, unit])).toEqual([
      ["helper", "Threads", "threads"],
      ["writer", expect.stringMatching(/written/i), "bytes/s"],
      ["worker-#", expect.stringMatching(/voluntary/i), "1/s"],
    ]);
    expect(figures[1]).toMatchObject({ before: 1e5, after: 1e6 });
    expect(figures.map(ratioText)).toEqual(["new", "10.0 ×", "0.200 ×"]);
  });

  it("says it in sentences, of those that have something to do", () => {
    const view = change(10, 20);
    expect(changeSentences(view)).toEqual([
      "1.00 threads of worker-# ran on average, 0.200 before.",
      "0.500 threads of worker-# were ready and had no CPU on average, none before.",
    ]);
    expect(spansText(view)).toBe("The 10 s in view against the 10 s before.");
    expect(view.times.map(changeText)).toEqual(["−1.30", "+0.800", "+0.700", "+0.500"]);
  });

  it("finds nothing where nothing changed", () => {
    const { state, times, figures } = change(5, 9);
    expect([state, times, figures]).toEqual(["ok", [], []]);
    expect(changeSentences(change(5, 9))).toEqual([]);
  });

  it("is of the threads that fit the filter", () => {
    expect(change(10, 20, "writer").times).toEqual([]);
    expect(change(10, 20, "writer").figures.map(({ role }) => role)).toEqual(["writer"]);
  });

  it("needs a time before", () => {
    expect(change(0, 10)).toMatchObject({ state: "waiting" });
    expect(spansText(change(4, 12))).toBe(
      "The 8.0 s in view against the 4.0 s before, which is all that is known.",
    );
  });
});
