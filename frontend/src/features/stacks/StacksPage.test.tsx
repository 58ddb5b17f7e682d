/** The Stacks page: flame graphs of a target or run, their differences, and what asks for stacks. */

import { screen, within } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";
import { FakeBackend, problem, refuse } from "../../testing/backend";
import { TARGET } from "../../testing/frames";
import { BANK_RELEASES, BANK_STACKS, differenceOf, graphOf, SAMPLING } from "../../testing/stacks";
import { TestPage } from "../../testing/TestPage";
import type { StackGraph, Target } from "../../wire/generated/models";

const ADDRESS = `/stacks?target=${TARGET.id}`;
const GRAPH = `/targets/${TARGET.id}/stacks` as const;

/** A backend that takes stacks of the test target. */
function stacksBackend(target: Partial<Target> = {}): FakeBackend {
  const backend = new FakeBackend();
  backend.begin({ targets: [{ ...TARGET, stacks: SAMPLING, ...target }] });
  backend.on(`POST ${GRAPH}`, () => ({}));
  backend.on(`GET ${GRAPH}`, ({ path }) =>
    path.includes("side=releasers")
      ? graphOf(BANK_RELEASES, { side: "releasers" })
      : graphOf(BANK_STACKS, { unseen_ns: 2e9 }),
  );
  return backend;
}

/** Whether the browser's tab is hidden. */
const hidden = vi.fn(() => false);

beforeEach(() => {
  hidden.mockReturnValue(false);
  vi.spyOn(document, "hidden", "get").mockImplementation(hidden);
});

/** Open an address of the page, and deliver some seconds of frames. */
async function opened(address: string, backend = stacksBackend()): Promise<TestPage> {
  // Loaded lazily by the app; loaded in advance here.
  await Promise.all([import("./StacksPage"), import("../../wire/generated/stackValidators")]);
  const page = await TestPage.open(address, { backend });
  await vi.dynamicImportSettled();
  await page.run(2);
  return page;
}

const lastQuery = (page: TestPage, route = `GET ${GRAPH}`) =>
  new URLSearchParams(page.backend.requests(route).at(-1)?.path.split("?")[1]);
const graph = (page: TestPage) => page.one("[data-flame]");
const boxes = (page: TestPage) =>
  graph(page).querySelector("canvas")?.dataset.texts?.trim().split("\n") ?? [];
const said = (page: TestPage) => page.one("[data-flame-said]").textContent;

it("has stacks taken while it is open, and shows exact time divided by samples", async () => {
  const page = await opened(ADDRESS);
  expect(page.backend.requests(`POST ${GRAPH}`)[0]?.body).toEqual({ seconds: 15 });
  expect(screen.getByText("11.7 s").parentElement?.textContent).toBe("11.7 s by the ledger");
  expect(screen.getByText("83 % with a known stack")).toBeTruthy();
  expect(boxes(page)).toContain("update_account");
  expect(boxes(page)).toContain("no stack known");
  expect(screen.getByText(/Taking stacks at waits, at a tracepoint/)).toBeTruthy();
  const asked = page.backend.requests(`GET ${GRAPH}`).length;
  await page.run(6);
  // About once a second, and the lease is renewed before it ends.
  expect(page.backend.requests(`GET ${GRAPH}`).length).toBeGreaterThan(asked + 4);
  expect(page.backend.requests(`POST ${GRAPH}`).length).toBeGreaterThan(1);
  expect(lastQuery(page).has("to_ns")).toBe(false);
});

it("asks for nothing while it is hidden", async () => {
  const page = await opened(ADDRESS);
  hidden.mockReturnValue(true);
  await page.pass(20_000);
  const posts = page.backend.requests(`POST ${GRAPH}`).length;
  await page.pass(60_000);
  expect(page.backend.requests(`POST ${GRAPH}`)).toHaveLength(posts);
  hidden.mockReturnValue(false);
  document.dispatchEvent(new Event("visibilitychange"));
  await page.pass(100);
  expect(page.backend.requests(`POST ${GRAPH}`)).toHaveLength(posts + 1);
});

it("stops asking when it is left", async () => {
  const page = await opened(ADDRESS);
  await page.press("gd");
  const posts = page.backend.requests(`POST ${GRAPH}`).length;
  await page.pass(30_000);
  expect(page.backend.requests(`POST ${GRAPH}`)).toHaveLength(posts);
});

it("goes through functions by keys, zooms, and keeps the view in the address", async () => {
  const page = await opened(ADDRESS);
  graph(page).focus();
  await page.press("{Home}");
  expect(graph(page).dataset.cursor).toBe("_start");
  await page.press("{ArrowRight}");
  expect(graph(page).dataset.cursor).toBe("clone3");
  expect(said(page)).toContain("clone3: 9.44 s ± 0.19 (80 %), 476 samples");
  await page.press("{ArrowDown}{ArrowDown}{ArrowDown}");
  expect(graph(page).dataset.cursor).toBe("update_account");
  await page.press("{Enter}");
  expect(new URLSearchParams(window.location.search).getAll("zoom")).toEqual([
    ...["clone3", "start_thread", "worker", "update_account"],
  ]);
  const path = within(screen.getByRole("navigation", { name: "Zoomed to" }));
  expect(path.getAllByRole("button").map(({ textContent }) => textContent)).toEqual([
    ...["All", "› clone3", "› start_thread", "› worker", "› update_account"],
  ]);
  await page.press("{Escape}");
  expect(new URLSearchParams(window.location.search).getAll("zoom")).toHaveLength(3);
  await page.click(path.getByRole("button", { name: "All" }));
  expect(window.location.search).not.toContain("zoom");
});

it("searches, turns over, and folds, and the address says so", async () => {
  const page = await opened(ADDRESS);
  await page.press("/");
  expect(document.activeElement).toBe(screen.getByRole("searchbox", { name: "Search functions" }));
  await page.fill(screen.getByRole("searchbox", { name: "Search functions" }), "bank.c");
  expect(screen.getByText("9.44 s (80 %) matches")).toBeTruthy();
  await page.click(screen.getByRole("checkbox", { name: "Hide kernel frames" }));
  await page.click(screen.getByRole("checkbox", { name: "Hide runtime frames" }));
  expect(boxes(page)).not.toContain("futex_wait");
  expect(boxes(page)).not.toContain("start_thread");
  await page.click(screen.getByRole("radio", { name: "Flame" }));
  const query = new URLSearchParams(window.location.search);
  expect([query.get("flame"), query.get("kernel"), query.get("runtime")]).toEqual([
    ...["up", "hidden", "hidden"],
  ]);
  graph(page).focus();
  await page.press("{Home}{ArrowUp}");
  expect(graph(page).dataset.cursor).not.toBe("");
});

it("lists functions with intervals, and zooms to one", async () => {
  const page = await opened(ADDRESS);
  await page.click(screen.getByText("As a table"));
  const table = screen.getByRole("table", { name: "Functions: All states" });
  const row = within(table).getByRole("button", { name: "update_account" }).closest("tr");
  expect([...(row?.querySelectorAll("td") ?? [])].map(({ textContent }) => textContent)).toEqual([
    ...["bank.c:41", "bank", "native", "0 s", "9.44 s", "80 %", "9.44 s ± 0.19", "476"],
  ]);
  await page.click(within(table).getByRole("button", { name: "transfer" }));
  expect(new URLSearchParams(window.location.search).getAll("zoom").at(-1)).toBe("transfer");
});

it("shows who waits for a lock beside who releases or holds it", async () => {
  const page = await opened(`${ADDRESS}&lock=3&name=pool_mu`);
  const sides = () =>
    page.backend.requests(`GET ${GRAPH}`).map(({ path }) => new URLSearchParams(path).get("side"));
  expect(screen.getByText("waits for pool_mu")).toBeTruthy();
  expect(page.region("Waiting").getByText(/483 samples/)).toBeTruthy();
  expect(page.region("Released by").getByText(/483 samples/)).toBeTruthy();
  expect(lastQuery(page).get("lock")).toBe("3");
  expect(sides()).toContain("releasers");
  await page.click(screen.getByRole("radio", { name: "Held by" }));
  await page.settle();
  expect(sides()).toContain("holders");
  await page.click(screen.getByRole("button", { name: "Without waits for pool_mu" }));
  await page.settle();
  expect(screen.queryByRole("region", { name: "Held by" })).toBeNull();
  expect(window.location.search).not.toContain("lock");
});

it("says why there are no stacks and what to do", async () => {
  const backend = stacksBackend();
  const refusal = problem("no-stacks", {
    status: 409,
    detail: "Go was not found.",
    hint: "Install Go.",
  });
  backend.on(`POST ${GRAPH}`, () => refuse(refusal));
  const none: Partial<StackGraph> = { exact_ns: 0, reason: "No stacks were taken in this window." };
  backend.on(`GET ${GRAPH}`, () => graphOf([], none));
  const page = await opened(ADDRESS, backend);
  expect(screen.getByText("Go was not found.")).toBeTruthy();
  expect(screen.getByText("Install Go.")).toBeTruthy();
  expect(page.one("[data-reason]").textContent).toBe("No stacks were taken in this window.");
  const asked = backend.requests(`POST ${GRAPH}`).length;
  await page.pass(30_000);
  // A refusal is not asked again by itself.
  expect(backend.requests(`POST ${GRAPH}`)).toHaveLength(asked);
  backend.on(`POST ${GRAPH}`, () => ({}));
  await page.click(screen.getByRole("button", { name: "Try again" }));
  expect(screen.queryByText("Install Go.")).toBeNull();
});

it("lets a viewer look at stacks that others take, and says whose right it is to take them", async () => {
  const backend = stacksBackend({ stacks: { ...SAMPLING, until_unix_us: null } });
  backend.role = "viewer";
  const page = await opened(ADDRESS, backend);
  expect(backend.requests(`POST ${GRAPH}`)).toHaveLength(0);
  expect(screen.getByText(/Taking stacks needs an operator/)).toBeTruthy();
  expect(boxes(page)).toContain("update_account");
});

it("says what is missing and what was dropped", async () => {
  const backend = stacksBackend();
  const sampling = { ...SAMPLING, reason: "Stacks of Java threads need a newer unwinder." };
  const counts = { ...graphOf([]).counts, taken: 90, beyond_limit: 12 };
  backend.on(`GET ${GRAPH}`, () =>
    graphOf(BANK_STACKS.slice(2), {
      ...{ omitted_nodes: 5, counts, sampling },
      note: "Goroutines wait without a thread: ask the program.",
    }),
  );
  const page = await opened(ADDRESS, backend);
  expect(screen.getByText("Stacks of Java threads need a newer unwinder.")).toBeTruthy();
  expect(screen.getByText(/7 samples: too few/)).toBeTruthy();
  expect(page.one("[data-note]").textContent).toContain("Goroutines wait");
  expect(page.one("[data-omitted]").textContent).toContain("5 boxes too narrow to draw");
  expect(page.one("[data-omitted]").textContent).toContain("12 were beyond the limit a second");
});

it("freezes the window, and goes back to live", async () => {
  const page = await opened(`${ADDRESS}&last=10`);
  await page.click(screen.getByRole("button", { name: "Freeze" }));
  await page.settle();
  const query = lastQuery(page);
  expect(Number(query.get("to_ns"))).toBeGreaterThan(Number(query.get("from_ns")));
  const posts = page.backend.requests(`POST ${GRAPH}`).length;
  await page.pass(20_000);
  // The past needs no new stacks.
  expect(page.backend.requests(`POST ${GRAPH}`)).toHaveLength(posts);
  await page.click(screen.getByRole("button", { name: "Back to live" }));
  await page.settle();
  expect(lastQuery(page).has("to_ns")).toBe(false);
});

it("chooses states, one or all of a group", async () => {
  const page = await opened(`${ADDRESS}&tid=12&name=worker-1+(12)`);
  expect(screen.getByText("worker-1 (12)")).toBeTruthy();
  await page.select(screen.getByRole("combobox", { name: "State" }), "Waiting for a CPU (all)");
  await page.settle();
  expect(lastQuery(page).getAll("state")).toEqual(["preempted", "woken"]);
  expect(page.region("Waiting for a CPU").getByText(/samples/)).toBeTruthy();
  await page.select(screen.getByRole("combobox", { name: "State" }), "all states");
  await page.click(screen.getByRole("button", { name: "Without worker-1 (12)" }));
  await page.settle();
  expect([lastQuery(page).has("state"), lastQuery(page).has("tid")]).toEqual([false, false]);
});

it("compares a window with the time before, and two roles", async () => {
  const backend = stacksBackend();
  backend.on("GET /stacks/difference", () =>
    differenceOf(
      [{ stack: "main;grew", ns: 1e9, samples: 20 }],
      [
        { stack: "main;grew", ns: 2e9, samples: 40 },
        { stack: "main;rare", ns: 1e8, samples: 2 },
      ],
    ),
  );
  const page = await opened(`${ADDRESS}&last=1&role=worker-%23`, backend);
  await page.click(screen.getByRole("radio", { name: "Against the time before" }));
  await page.settle();
  const query = lastQuery(page, "GET /stacks/difference");
  expect(query.get("before")).toBe(`target:${TARGET.id}`);
  expect(query.get("before_to_ns")).toBe(query.get("after_from_ns"));
  expect(query.getAll("after_role")).toEqual(["worker-#"]);
  expect(boxes(page)).toEqual(["▲ main", "▲ grew", "rare"]);
  graph(page).focus();
  await page.press("{Home}{ArrowDown}{ArrowRight}");
  expect(said(page)).toContain("No certain change.");
  await page.click(screen.getByRole("radio", { name: "Against another role" }));
  await page.fill(screen.getByLabelText("Compared role"), "reader");
  await page.press("{Enter}");
  await page.settle();
  const roles = lastQuery(page, "GET /stacks/difference");
  expect([roles.getAll("before_role"), roles.getAll("after_role")]).toEqual([
    ["reader"],
    ["worker-#"],
  ]);
  expect(page.region("Role worker-# against reader")).toBeTruthy();
});

it("knows an address of nothing, and a target that is gone", async () => {
  const page = await opened("/stacks");
  expect(screen.getByText("Stacks of what?")).toBeTruthy();
  page.leave();
  const other = await opened("/stacks?target=t-9-00000009");
  await other.pass(5000);
  expect(screen.getByText("Unknown target")).toBeTruthy();
});
