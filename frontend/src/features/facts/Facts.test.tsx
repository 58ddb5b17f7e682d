import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { localTime } from "../../base/clock";
import { FakeBackend } from "../../testing/backend";
import { type FactRows, factTables } from "../../testing/factModel";
import { TARGET } from "../../testing/frames";
import { steadyWork } from "../../testing/ledgers";
import { TestPage } from "../../testing/TestPage";

/** Thread IDs of the steady program: burner 2, writer 3, workers 4 to 9, sleepers 10 to 13. */
const PID = TARGET.process.pid;
const WORKERS = [4, 5, 6, 7, 8, 9];

const LEDGER = {
  ...TARGET,
  source: { ...TARGET.source, ledger: true, ledger_reason: null, calls: true },
};

/** @param waited_s Seconds in which workers waited for the lock. */
function facts(t_s: number, waited_s = t_s): FactRows {
  const wake = (waker_tid: number, wakee_tid: number, per_s: number, more: object = {}) => ({
    ...{ waker_tid, waker_pid: PID, wakee_tid, count: per_s * t_s },
    ...{ blocked_ns: per_s * t_s * 1e6, delay_ns: per_s * t_s * 1e4 },
    ...more,
  });
  const lock = (tid: number, wait: number) => ({
    ...{ lock: 1, tid, wait_ns: wait * waited_s * 1e9, waits: 50 * waited_s },
    wakes: 50 * waited_s,
  });
  return {
    wakes: [
      ...WORKERS.map((tid) => wake(2, tid, 50)),
      wake(0, 2, 400, { waker_pid: 0, waker_name: "interrupt" }),
      wake(99, 3, 10, { waker_pid: 99, waker_name: "postgres" }),
    ],
    locks: [
      ...WORKERS.map((tid) => lock(tid, 0.4)),
      { lock: 2, tid: 10, wait_ns: 9e8 * t_s, waits: t_s, wakes: 0 },
      { lock: 3, tid: 11, wait_ns: 2e8 * t_s, waits: 5 * t_s, wakes: 0 },
    ],
    lock_names: [
      { lock: 1, name: "pool_mu", kind: "lock", source: "futex", symbol_file: "steady_work" },
      { lock: 2, name: "idle", kind: "park", source: "futex" },
      { lock: 3, name: "flock", kind: "call", source: "system-call" },
    ],
    takers: [{ tid: 2, pid: 7, kernel: 0, ns: 3e8 * t_s, name: "ffmpeg" }],
    calls: [{ tid: 3, call: 1, count: 100 * t_s, ns: 5e7 * t_s, name: "write" }],
  };
}

/** The steady program with a ledger, for some seconds. */
async function watched(
  seconds = 8,
  factsAt: (t_s: number) => ReturnType<typeof facts> = (t_s) => facts(t_s),
): Promise<TestPage> {
  const backend = new FakeBackend();
  backend.begin({ targets: [LEDGER] });
  const page = await TestPage.open(`/?target=${TARGET.id}&tab=all`, { backend });
  for (let t_s = 0; t_s <= seconds; t_s++) {
    const process = { cpu_limit: 2, cgroup_periods: 10 * t_s, cgroup_throttled: 4 * t_s };
    const gauges = { ...process, cgroup_throttled_us: 1e5 * t_s, gomaxprocs: 8 };
    const tables = factTables(factsAt(t_s));
    await page.frame(steadyWork(t_s, t_s === 0), { t_s, tables, process: gauges });
  }
  await page.pass(3000);
  return page;
}

const cells = (row: HTMLElement) => [...row.querySelectorAll("th, td")].map((c) => c.textContent);

function rowsOf(table: HTMLElement): (string | null)[][] {
  return within(table)
    .getAllByRole("row")
    .filter((row) => row.dataset.key !== undefined)
    .map(cells);
}

it("lists what stands out, and leads to what shows it", async () => {
  const page = await watched();
  const findings = page.region("Findings");
  const texts = findings.getAllByRole("listitem").map((item) => item.textContent);
  expect(texts[0]).toContain("6 threads waited 40.0 % of the time for one lock, “pool_mu”.");
  // Cards say what to try; the evidence of findings is shown on request.
  expect(texts[0]).not.toContain("Threshold");
  const more = findings.getByRole("button", { name: /^(Details|\d more)$/ });
  await page.click(more);
  expect(more.getAttribute("aria-expanded")).toBe("true");
  const all = findings.getAllByRole("listitem").map((item) => item.textContent);
  expect(all[0]).toMatch(/Measured\. Try: Hold it for less time.*Threshold: /);
  expect(all.join()).toContain("GOMAXPROCS 8, CPU limit 2.00 cores: throttled in 40.0 %");
  await page.click(findings.getByRole("button", { name: /pool_mu/ }));
  await page.settle();
  const locks = page.region("Waiting on");
  expect(document.activeElement).toBe(page.one("#panel-waiting"));
  expect(rowsOf(locks.getByRole("table", { name: "Waiters" })).map(([name]) => name)).toEqual(
    WORKERS.map((tid) => `worker-${tid - 3} (${tid})`),
  );
});

it("says when it was, and shows that time", async () => {
  // Cells of five seconds begin at round clock times.
  const since_s = 5 - ((LEDGER.attached_unix_us / 1e6) % 5);
  const page = await watched(60, (t_s) =>
    facts(t_s, Math.min(15, Math.max(0, t_s - since_s - 20))),
  );
  const at = (t_s: number) => localTime(LEDGER.attached_unix_us / 1000 + 1000 * (since_s + t_s));
  const findings = page.region("Findings");
  const lock = findings.getByRole("button", { name: /pool_mu/ });
  expect(lock.textContent).toContain(
    `From ${at(20)} to ${at(35)}: 6 threads waited 40.0 % of the time for one lock, “pool_mu”`,
  );
  await page.click(lock);
  await page.settle();
  const zoomed = findings.getByRole("button", { name: /pool_mu/ });
  expect(zoomed.textContent).toMatch(/^6 threads waited 40\.0 %/);
});

it("draws who wakes whom, and says the same in a table", async () => {
  const page = await watched();
  const panel = page.region("Who wakes whom");
  const nodes = panel.getByRole("region", { name: "Wake-up graph" });
  const names = within(nodes)
    .getAllByRole("button")
    .map((node) => node.getAttribute("title"));
  expect(names).toHaveLength(5);
  expect(names).toContain("worker-# (role, 6 threads): wakes 0 /s, is woken 300 /s");
  expect(names).toContain("postgres (99) (other process): wakes 10.0 /s, is woken 0 /s");
  const table = panel.getByRole("table", { name: "Wake-ups" });
  expect(rowsOf(table).map(([from, to, rate]) => [from, to, rate])).toEqual([
    ["interrupts", "burner", "400"],
    ["burner", "worker-#", "300"],
    ["postgres (99)", "writer", "10.0"],
  ]);
});

it("selects a role by its node: the tables follow, and the keyboard reaches it", async () => {
  const page = await watched();
  const panel = page.region("Who wakes whom");
  const graph = within(panel.getByRole("region", { name: "Wake-up graph" }));
  const [first] = graph.getAllByRole("button");
  first?.focus();
  await page.press("{ArrowRight}");
  expect(document.activeElement).toBe(graph.getAllByRole("button")[1]);
  const worker = graph.getByRole("button", { name: /^worker/ });
  worker.focus();
  await page.press("{Enter}");
  await page.settle();
  expect(worker.getAttribute("aria-pressed")).toBe("true");
  expect(rowsOf(panel.getByRole("table", { name: "Wake-ups" }))).toHaveLength(1);
  const threads = page.region("Threads");
  expect(threads.getAllByRole("button", { name: /^worker-\d$/ })).toHaveLength(6);
  expect(threads.queryByRole("button", { name: "burner" })).toBeNull();
  await page.click(panel.getByRole("button", { name: "Show all" }));
  await page.settle();
  expect(threads.getByRole("button", { name: "burner" })).toBeTruthy();
  expect(rowsOf(panel.getByRole("table", { name: "Wake-ups" }))).toHaveLength(3);
});

it("lists what threads wait for, parks folded away, and opens a lock by keyboard", async () => {
  const page = await watched();
  const waiting = page.region("Waiting on");
  const rows = rowsOf(waiting.getByRole("table", { name: "Waiting on" }));
  // Six of thirteen threads wait 40 % of the time each; the group is throttled for 0.1 s a second.
  expect(rows.map((row) => row.slice(0, 8))).toEqual([
    ["pool_mu", "lock", "2.40", "18.5 %", "300", "8.00 ms", "6", "worker-#"],
    ["ffmpeg (7)", "CPU", "0.300", "2.31 %", "–", "–", "1", "burner"],
    ["CPU limit of the control group", "CPU", "0.100", "0.769 %", "4.00", "–", "–", ""],
  ]);
  expect(waiting.getByText("2.00 cores, GOMAXPROCS 8")).toBeTruthy();
  expect(waiting.getByText(/^40.0 % of periods/)).toBeTruthy();
  expect(waiting.getByText(/Parked threads wait here: 1 park, 0.900 threads/)).toBeTruthy();
  expect(waiting.getByText(/Waits in other system calls: 1 call, 0.200 threads/)).toBeTruthy();
  const button = waiting.getByRole("button", { name: "pool_mu" });
  button.focus();
  await page.press("{Enter}");
  await page.settle();
  expect(button.getAttribute("aria-expanded")).toBe("true");
  expect(waiting.getByText(/steady_work\. Source: futex\./)).toBeTruthy();
  const wakers = rowsOf(waiting.getByRole("table", { name: "Who lets them go on" }));
  expect(wakers[0]).toEqual(["worker-1 (4)", "50.0"]);
});

it("sums other processes by program by keyboard, kept in the address", async () => {
  const page = await watched(8, (t_s) => ({
    takers: [7, 8].map((pid) => ({
      ...{ tid: 2, pid, party: pid, kernel: 0, ns: 0.1 * pid * t_s * 1e9, name: "ffmpeg" },
    })),
    parties: [
      { party: 7, pid: 7, cgroup: "/docker/x", container: "web-1", title: "ffmpeg -i a" },
      { party: 8, pid: 8 },
    ],
  }));
  const waiting = page.region("Waiting on");
  const names = () =>
    rowsOf(waiting.getByRole("table", { name: "Waiting on" }))
      .map(([name]) => name)
      .filter((name) => name?.startsWith("ffmpeg"));
  expect(names()).toEqual(["ffmpeg (8)", "ffmpeg (7) in container web-1"]);
  expect(waiting.getByTitle(/ffmpeg -i a/).title).toBe(
    "ffmpeg (7) in container web-1\nffmpeg -i a\ncontrol group /docker/x",
  );
  waiting.getByRole("radio", { name: "Processes" }).focus();
  await page.press("{ArrowRight}");
  await page.pass(3000);
  expect(names()).toEqual(["ffmpeg ×2"]);
  expect(window.location.search).toContain("others=programs");
});

it("lists system calls", async () => {
  const page = await watched();
  const calls = page.region("System calls");
  expect(rowsOf(calls.getByRole("table"))[0]?.slice(0, 4)).toEqual([
    ...["write", "100", "0.0500", "0.500 ms"],
  ]);
});

it("sorts by a column that is pressed", async () => {
  const page = await watched();
  const panel = page.region("Who wakes whom");
  await page.click(panel.getByRole("button", { name: /^Waker/ }));
  const table = panel.getByRole("table", { name: "Wake-ups" });
  expect(rowsOf(table).map(([from]) => from)).toEqual(["burner", "interrupts", "postgres (99)"]);
});

it("shows why there are no ledgers, and what was not looked at", async () => {
  const page = await TestPage.watching(8);
  await page.pass(3000);
  expect(screen.queryByRole("region", { name: "Waiting on" })).toBeNull();
  expect(page.one("[data-absent=ledger]").textContent).toContain("no ledger");
  const findings = page.region("Findings");
  expect(findings.getByText(/Nothing stood out.*Not looked at: deadlocks, .*, locks/)).toBeTruthy();
});

it("gives a thread's wakers, wakees, locks and what runs instead of it, in its panel", async () => {
  const page = await watched();
  await page.click(page.region("Threads").getByRole("button", { name: "burner" }));
  await page.settle();
  const panel = within(page.one("[data-panel=thread]"));
  expect(rowsOf(panel.getByRole("table", { name: "Who wakes it" }))[0]?.slice(0, 2)).toEqual([
    ...["interrupts", "400"],
  ]);
  const wakees = rowsOf(panel.getByRole("table", { name: "Whom it wakes" }));
  expect(wakees.map(([name]) => name)).toContain("worker-1");
  expect(rowsOf(panel.getByRole("table", { name: "What runs instead of it" }))[0]).toEqual([
    ...["ffmpeg (7)", "30.0 %"],
  ]);
  expect(panel.getByText("It waited for no lock.")).toBeTruthy();
  await page.click(panel.getByRole("button", { name: "worker-2" }));
  await page.settle();
  const other = within(page.one("[data-panel=thread]"));
  const locks = rowsOf(other.getByRole("table", { name: "Its locks" }));
  expect(locks).toEqual([["pool_mu", "40.0 %", "50.0", "8.00 ms"]]);
});
