/** Ways to stacks: code of locks and threads, and links from the panels of a target. */

import { screen, within } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { FakeBackend, problem, refuse } from "../../testing/backend";
import { factTables } from "../../testing/factModel";
import { LedgerPage } from "../../testing/ledgerPage";
import { LEDGER_TARGET } from "../../testing/ledgers";
import { BANK_STACKS, frameOf, graphOf, placeOf, placesOf } from "../../testing/stacks";
import { lockCode, nowText, placeTitle } from "./Places";

const STACKS = `/targets/${LEDGER_TARGET.id}/stacks` as const;

beforeEach(() => {
  vi.spyOn(document, "hidden", "get").mockReturnValue(false);
});

function lockTables(t_s: number) {
  const lock = (tid: number) => ({
    ...{ lock: 1, tid, wait_ns: 4e8 * t_s, waits: 20 * t_s, wakes: 20 * t_s },
  });
  return factTables({
    locks: [lock(1), lock(2)],
    lock_names: [{ lock: 1, name: "pool_mu", kind: "lock", source: "futex", symbol_file: "bank" }],
  });
}

const PLACES = placesOf({
  locks: [
    {
      lock: 1,
      waits: placeOf("update_account@bank!src/bank.c:41"),
      releases: placeOf("slow_io@bank!src/io.c:88"),
      holds: placeOf("slow_io@bank!src/io.c:88"),
    },
  ],
  threads: [
    {
      ...{ tid: 1, state: "futex", at_ns: 5e9, ended: false },
      frames: [
        frameOf("update_account@bank!src/bank.c:41"),
        frameOf("worker@bank!src/worker.c:30"),
      ],
    },
  ],
});

/** The program with ledgers, with stacks or none. */
async function watched(stacks: boolean) {
  const backend = new FakeBackend();
  if (stacks) {
    backend.on(`GET ${STACKS}/places`, () => PLACES);
    backend.on(`GET ${STACKS}`, () => graphOf(BANK_STACKS));
    backend.on(`POST ${STACKS}`, () => ({}));
  }
  // Loaded lazily by the app; loaded in advance here.
  await Promise.all([import("./WindowStacks"), import("../../wire/generated/stackValidators")]);
  const watching = await LedgerPage.watching(0, undefined, "", backend);
  await watching.run(8, lockTables);
  await watching.page.pass(11_000);
  return watching.page;
}

const query = (link: HTMLElement) =>
  new URLSearchParams(link.getAttribute("href")?.split("?")[1] ?? "");

it("names the code in findings, locks and threads, each a link to its flame graph", async () => {
  const page = await watched(true);
  const finding = page.region("Findings").getByRole("button", { name: /pool_mu/ });
  expect(finding.textContent).toMatch(
    /“pool_mu”, taken in update_account \(bank\.c:41\), held longest in slow_io \(io\.c:88\)\.$/,
  );
  const locks = within(page.region("Waiting on").getByRole("table", { name: "Waiting on" }));
  const where = locks.getByRole("link", { name: "update_account (bank.c:41)" });
  expect([query(where).get("lock"), query(where).get("name")]).toEqual(["1", "pool_mu"]);
  expect(query(where).get("last")).toBe("60");
  expect(where.title).toContain("84 % of the time with a known stack");
  const threads = page.region("Threads");
  const now = threads.getByRole("link", { name: "update_account (bank.c:41)" });
  expect(query(now).getAll("tid")).toEqual(["1"]);
  expect(page.cell("worker-1", "code").title).toBe(
    "futex, now:\nupdate_account (bank.c:41)\nworker (worker.c:30)",
  );
  await page.click(page.region("Findings").getByRole("button", { name: /more|Details/ }));
  const link = page.region("Findings").getByRole("link", { name: "Stacks of its waits" });
  expect(query(link).get("lock")).toBe("1");
});

it("says nothing about code where no stacks are known, and still links to flame graphs", async () => {
  const page = await watched(false);
  const finding = page.region("Findings").getByRole("button", { name: /pool_mu/ });
  expect(finding.textContent).toMatch(/“pool_mu”\.$/);
  const locks = within(page.region("Waiting on").getByRole("table", { name: "Waiting on" }));
  const links = locks.getAllByRole("link", { name: "Stacks" }).map(query);
  expect(links.map((link) => link.get("lock"))).toContain("1");
  expect(document.querySelector("[data-column=code]")).toBeNull();
});

it("links parts of the time, roles, a thread and its states, and a cell of the map", async () => {
  const page = await watched(true);
  const times = page.region("Where the time goes");
  const part = times.getByRole("link", { name: "Waiting for a lock or condition (futex)" });
  expect(query(part).getAll("state")).toEqual(["futex"]);
  expect(query(part).has("tid")).toBe(false);
  const role = times.getAllByRole("link", { name: "Stacks" })[0];
  expect(role && query(role).getAll("role")).toEqual(["worker-#"]);

  await page.click(page.region("Threads").getByRole("button", { name: "worker-2" }));
  await page.settle();
  const thread = within(page.one("[data-panel=thread]"));
  const whole = thread.getByRole("link", { name: "Stacks of this thread in this window" });
  expect([query(whole).getAll("tid"), query(whole).get("name")]).toEqual([["2"], "worker-2 (2)"]);
  const woken = thread.getByRole("link", { name: "Waiting for a CPU after wake-up" });
  expect(query(woken).getAll("state")).toEqual(["woken"]);
  // Parts are of the selected thread now.
  const own = times.getByRole("link", { name: "Waiting for a lock or condition (futex)" });
  expect(query(own).getAll("tid")).toEqual(["2"]);

  page.one("[data-map]").focus();
  await page.press("{End}{ArrowDown}{ArrowLeft}{Enter}");
  await page.settle();
  const links = within(page.one("[data-cell-stacks]")).getAllByRole("link");
  const [cell, all] = links.map(query);
  expect(Number(cell?.get("to")) - Number(cell?.get("from"))).toBeGreaterThan(0);
  expect(all?.get("last")).toBe("60");
  expect(cell?.getAll("tid")).toEqual(all?.getAll("tid"));
});

it("takes stacks on request, shows them, and stops", async () => {
  const page = await watched(true);
  const panel = page.region("Stacks");
  expect(page.backend.requests(`POST ${STACKS}`)).toHaveLength(0);
  expect(panel.getByText(/Taking stacks costs the program up to 2 %/)).toBeTruthy();
  await page.click(panel.getByRole("button", { name: "Take stacks" }));
  await page.settle();
  expect(page.backend.requests(`POST ${STACKS}`)).toHaveLength(1);
  expect(panel.getByText(/483 samples/)).toBeTruthy();
  await page.click(panel.getByRole("radio", { name: "Flame" }));
  expect(panel.getByRole<HTMLInputElement>("radio", { name: "Flame" }).checked).toBe(true);
  const link = panel.getByRole("link", { name: "On a page of its own" });
  expect(link.getAttribute("href")).toBe(`/stacks?target=${LEDGER_TARGET.id}&last=60`);
  await page.click(panel.getByRole("button", { name: "Stop taking stacks" }));
  const posts = page.backend.requests(`POST ${STACKS}`).length;
  await page.pass(20_000);
  expect(page.backend.requests(`POST ${STACKS}`)).toHaveLength(posts);
});

it("says why no stacks can be taken", async () => {
  const page = await watched(true);
  page.backend.on(`POST ${STACKS}`, () =>
    refuse(problem("no-stacks", { status: 409, detail: "Go was not found.", hint: "Install Go." })),
  );
  await page.click(page.region("Stacks").getByRole("button", { name: "Take stacks" }));
  await page.settle();
  expect(page.region("Stacks").getByText("Install Go.")).toBeTruthy();
  expect(screen.getAllByText("Go was not found.")).toHaveLength(1);
});

it("says what is known of a lock, no more", () => {
  const waits = placeOf("f@bank!f.c:1");
  const none = { lock: 1, waits: null, releases: null, holds: null };
  expect(lockCode(undefined)).toBe("");
  expect(lockCode(none)).toBe("");
  expect(lockCode({ ...none, waits, releases: placeOf("g@bank") })).toBe(
    "taken in f (f.c:1), released in g",
  );
  expect(placeTitle("Taken", waits)).toBe(
    "Taken in f (f.c:1): 84 % of the time with a known stack (95 % interval 80 % to 88 %, 412 samples).",
  );
});

it("says what a thread does by the program's own function and what that calls", () => {
  const now = (...frames: string[]) => ({
    ...{ tid: 1, state: "sleep", at_ns: 1, ended: false },
    frames: frames.map(frameOf),
  });
  expect(nowText(undefined)).toBe("");
  expect(nowText(now())).toBe("");
  expect(nowText(now("work@bank!src/work.c:35"))).toBe("work (work.c:35)");
  expect(nowText(now("nanosleep@libc.so.6", "rest@bank", "work@bank"))).toBe("rest › nanosleep");
  expect(nowText(now("poll@libc.so.6", "start_thread@libc.so.6"))).toBe("poll");
});
