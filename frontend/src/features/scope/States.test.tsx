import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { factTables } from "../../testing/factModel";
import { LedgerPage, PROGRAM } from "../../testing/ledgerPage";
import { TestPage } from "../../testing/TestPage";

const TIMES = "Where the time goes";

/** Shares of the shown parts, percent. */
function shares(page: TestPage): Record<string, number> {
  const rows = page.region(TIMES).getByRole("table").querySelectorAll<HTMLElement>("tr[data-part]");
  return Object.fromEntries(
    Array.from(rows, (row) => [
      row.dataset.part,
      Number.parseFloat(row.querySelector("td")?.textContent ?? ""),
    ]),
  );
}

const said = (page: TestPage) => page.one("[data-map-said]").textContent ?? "";

it("shows states in the thread map at first, below the time of roles, and says shares of a cell", async () => {
  const { page } = await LedgerPage.watching(5);
  const map = page.one("[data-map]");
  expect(map.dataset.map).toBe("state");
  const panel = page.one("[data-panel=map]");
  const times = page.one("[data-panel=times]");
  expect(times.compareDocumentPosition(panel)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  const legend = within(panel).getByRole("list", { name: "Colours of states" });
  expect(legend.textContent).toContain("Waiting for a CPU");
  await page.press(" ");
  map.focus();
  await page.press("{ArrowDown}{ArrowLeft}{ArrowLeft}");
  expect(said(page)).toMatch(/^worker-1 \(1\), .*: .*(Running|Waiting for).* \d+ %/);
  await page.press("{End}{ArrowDown}{ArrowDown}{ArrowDown}{ArrowLeft}{ArrowLeft}");
  expect(said(page)).toMatch(
    /^timer \(4\), .*: Sleeping \(timer\) 100 %; not switched since attach: as \/proc says$/,
  );
});

it("says what threads do now in a table, on request", async () => {
  const { page } = await LedgerPage.watching(4);
  expect(screen.queryByRole("table", { name: "What threads do now" })).toBeNull();
  await page.click(screen.getByRole("button", { name: "Table: Thread map" }));
  await page.settle();
  const table = within(screen.getByRole("table", { name: "What threads do now" }));
  const rows = table.getAllByRole("row").map((row) => row.textContent);
  expect(rows).toHaveLength(5);
  expect(rows[4]).toMatch(/^timer \(4\)timer(Sleeping \(timer\) 100 %){5}$/);
});

it("keeps other measures as colour", async () => {
  const { page } = await LedgerPage.watching(3);
  const colour = screen.getByRole("combobox", { name: "Colour" });
  await page.select(colour, "On-CPU time");
  await page.settle();
  expect(page.one("[data-map]").dataset.map).toBe("cpu_run_ns");
  page.region("Thread map").getByRole("img", { name: /^Colours, logarithmic, from/ });
  await page.select(colour, "State");
  await page.settle();
  expect(page.one("[data-map]").dataset.map).toBe("state");
});

it("gives reasons of waits, and folds idle time away by key and by address", async () => {
  const { page } = await LedgerPage.watching(10);
  expect(shares(page)).toMatchObject({ on_cpu: 22.5, futex: 20, woken: 10, poll: 22.5, sleep: 25 });
  await page.press("i");
  await page.settle();
  expect(window.location.search).toContain("idle=folded");
  const work = shares(page);
  expect(work.poll).toBeUndefined();
  expect(work.on_cpu).toBeCloseTo(42.9, 1);
  expect(Object.values(work).reduce((sum, share) => sum + share, 0)).toBeCloseTo(100, 0);
  expect(screen.getByRole<HTMLInputElement>("checkbox", { name: /Fold idle/ }).checked).toBe(true);
  page.region(TIMES).getByText(/ s of idle time folded away/);
  page.leave();
  const linked = await LedgerPage.watching(4, PROGRAM, "&idle=folded");
  expect(shares(linked.page).poll).toBeUndefined();
  await linked.page.click(screen.getByRole("checkbox", { name: /Fold idle/ }));
  await linked.page.settle();
  expect(window.location.search).not.toContain("idle");
  expect(shares(linked.page).poll).toBeGreaterThan(0);
});

it("says why there are no reasons of waits", async () => {
  const page = await TestPage.watching();
  page.backend.change({
    targets: [
      {
        ...(page.client.live.get()?.targets[0] ?? expect.fail("no target")),
        source: {
          ...(page.client.live.get()?.targets[0]?.source ?? expect.fail("no target")),
          ...{ ledger: false, ledger_reason: "needs Linux 6.1 with BTF" },
        },
      },
    ],
  });
  await page.run(1);
  expect(page.one("[data-reason=ledger]").textContent).toBe(
    "Reasons of waits: needs Linux 6.1 with BTF.",
  );
  expect(page.one("[data-map]").dataset.map).toBe("cpu_run_ns");
  expect(screen.queryByRole("checkbox", { name: /Fold idle/ })).toBeNull();
});

const panel = (page: TestPage) => page.one("[data-panel=thread]");

async function select(page: TestPage, name: string): Promise<void> {
  await page.click(page.region("Threads").getByRole("button", { name }));
  await page.settle();
}

it("opens a thread's panel, whose ledger adds up to the wall time", async () => {
  const { page } = await LedgerPage.watching(10);
  await select(page, "worker-1");
  const of = (name: string) => panel(page).querySelector<HTMLElement>(name);
  expect(panel(page).getAttribute("aria-label")).toBe("Thread worker-1 (1)");
  const rows = [...panel(page).querySelectorAll<HTMLElement>("[data-ledger] tr[data-part]")];
  const seconds = rows.map((row) => Number(row.querySelector("td")?.textContent));
  expect(rows.map(({ dataset }) => dataset.part)).toEqual(["on_cpu", "woken", "futex"]);
  const wall = Number(of("[data-wall]")?.dataset.wall) / 1e9;
  expect(wall).toBeCloseTo(10, 6);
  expect(seconds.reduce((sum, each) => sum + each, 0)).toBeCloseTo(wall, 5);
  expect(Math.abs(Number(of("[data-difference]")?.dataset.difference))).toBeLessThanOrEqual(1);
  expect(of("[data-difference]")?.textContent).toMatch(/^Difference−?[01] ns$/);
});

it("closes a thread's panel by Esc, opens another's, and leaves it with the selection", async () => {
  const { page } = await LedgerPage.watching(4);
  await select(page, "loop");
  await page.press("t");
  expect(document.activeElement).toBe(panel(page));
  await page.press("{Escape}");
  expect(document.querySelector("[data-panel=thread]")).toBeNull();
  expect(page.row("loop").dataset.selected).toBe("true");
  await select(page, "timer");
  expect(panel(page).textContent).toContain("Not switched since attach");
  expect(panel(page).querySelector("[data-current]")?.textContent).toContain("Sleeping (timer)");
  await select(page, "timer");
  expect(document.querySelector("[data-panel=thread]")).toBeNull();
});

it("shows how long stays were, of those that ended in view", async () => {
  const watched = await LedgerPage.watching(4);
  const { page } = watched;
  await select(page, "worker-1");
  // Eighty waits of a millisecond or two, twenty of a second.
  await watched.run(3, (t_s) => ({
    ...factTables({ locks: [{ lock: 1, tid: 1, wait_ns: 1e9 * t_s, waits: t_s, wakes: 0 }] }),
    stays: {
      rows: 2,
      columns: {
        tid: Uint32Array.of(1, 1),
        state: Uint32Array.of(4, 4),
        bucket: Uint32Array.of(11, 20),
        count: Float64Array.of(t_s < 6 ? 1000 : 1080, t_s < 6 ? 500 : 520),
      },
    },
  }));
  await page.client.request({ window: { kind: "fixed", t0_s: 5.2, t1_s: 7 } });
  await page.settle();
  const histogram = panel(page).querySelector<HTMLElement>("[data-stays=futex]");
  expect(histogram?.textContent).toContain("100 stays");
  const percentile = (name: string) =>
    histogram?.querySelector(`[data-percentile=${name}] dd`)?.textContent;
  expect(percentile("p50")).toMatch(/^1\.\d\d ms$/);
  expect(percentile("p95")).toMatch(/^[5-9]\d\d ms|0\.\d+ s$/);
  expect(
    within(histogram ?? panel(page))
      .getByRole("img")
      .getAttribute("aria-label"),
  ).toMatch(/^1\.05 ms to 2\.10 ms: 80, .*: 20$/);
});
