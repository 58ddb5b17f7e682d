/** The Traces page: endpoints, sets of requests, and statements about them. */

import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { problem, refuse } from "../../testing/backend";
import { summary } from "../../testing/runs";
import type { TestPage } from "../../testing/TestPage";
import {
  analysis,
  difference,
  ENDPOINT,
  endpoints,
  listed,
  MS,
  openTraces,
  runsOf,
  traceId,
  tracesBackend,
} from "../../testing/traces";

const HOUR_MS = 3_600_000;
const lastQuery = (page: TestPage, route: string) => {
  const path = page.backend.requests(route).at(-1)?.path ?? "";
  return new URLSearchParams(path.split("?")[1]);
};
/** Texts of the boxes of the flame graph. */
const boxes = () =>
  document.querySelector<HTMLElement>("[data-flame] canvas")?.dataset.texts?.trim().split("\n");
const inTable = (name: string) => within(screen.getByRole("table", { name }));

it("lists endpoints, and ranks operations over all of them once asked", async () => {
  const backend = tracesBackend();
  backend.on("GET /traces/operations", () => ({
    ...{ endpoints: 2, traces: 12, omitted: 0 },
    operations: [
      {
        service: "db",
        operation: "SQL",
        mean_share: 0.5,
        exclusive_ns: MS,
        endpoints: 2,
        traces: 9,
      },
    ],
    shapes: [
      {
        ...{ name: "depth", mean: 2.25, p50: 2, p95: 3, most: 3 },
        ...{ bounds: [2, 3, 4], counts: [9, 3] },
      },
    ],
  }));
  const page = await openTraces("/traces", backend);
  expect(inTable("Endpoints").getByRole("link").getAttribute("href")).toBe(
    "/traces?service=shop&operation=GET+%2F",
  );
  expect(backend.requests("GET /traces/operations")).toHaveLength(0);
  await page.click(screen.getByText("Operations and requests of all endpoints"));
  await page.settle();
  const row = inTable("Operations over all endpoints").getAllByRole("row")[1];
  expect(row?.textContent).toContain("db SQL");
  expect(screen.getByText(/12 requests of 2 endpoints/)).toBeTruthy();
  const depths = inTable("Longest chain of calls").getAllByRole("row");
  expect(depths.slice(1).map(({ textContent }) => textContent)).toEqual(["2 to 39", "3 to 43"]);
  expect(screen.getByText("mean 2.3, P50 2, P95 3, most 3")).toBeTruthy();
});

it("says how to send spans while there are none, and to a viewer that import is not theirs", async () => {
  const backend = tracesBackend();
  backend.role = "viewer";
  backend.on("GET /traces/endpoints", () => endpoints({ endpoints: [] }));
  const page = await openTraces("/traces", backend);
  expect(screen.getByText("No traces yet")).toBeTruthy();
  expect(screen.getByText("The receiver is off.")).toBeTruthy();
  const button = screen.getByRole<HTMLButtonElement>("button", { name: "Import a file…" });
  expect(button.disabled).toBe(true);
  backend.on("GET /traces/endpoints", () => refuse(problem("internal", { status: 500 })));
  await page.pass(6000);
  expect(screen.getByText("internal")).toBeTruthy();
  expect(screen.getByRole("button", { name: "Try again" })).toBeTruthy();
});

it("finds calls of a flame graph by text, and goes through them by keys", async () => {
  const page = await openTraces(ENDPOINT);
  expect(boxes()).toEqual([...["shop GET /", "db SQL", "cache get"]]);
  await page.fill(screen.getByRole("searchbox", { name: "Search calls" }), "sql");
  expect(screen.getByText("60.0 % matches")).toBeTruthy();

  const graph = page.one("[data-flame]");
  graph.focus();
  await page.press("{ArrowDown}");
  expect(graph.dataset.cursor).toBe("db SQL");
  expect(page.one("[data-flame-said]").textContent).toContain("db SQL: 60.0 ms (60.0 %)");
  expect(screen.getByText(/on the path of 10 requests/).textContent).toContain("60.0 ms (60.0 %)");
  await page.press("{ArrowRight}");
  expect(graph.dataset.cursor).toBe("cache get");
  await page.press("{Enter}");
  expect(window.location.search).toContain("zoom=shop+GET+%2F&zoom=cache+get");
  await page.press("{Escape}");
  expect(window.location.search).toContain("zoom=shop+GET+%2F");
  expect(window.location.search).not.toContain("cache");
  await page.press("{Escape}");
  expect(window.location.search).not.toContain("zoom");
});

it("chooses requests by window, run, percentiles, attribute and roots, all in the address", async () => {
  const backend = tracesBackend();
  backend.on("GET /runs", () => runsOf(summary({ name: "baseline" })));
  const page = await openTraces(ENDPOINT, backend);
  const now_ms = Date.now();
  await page.select(screen.getByRole("combobox", { name: "Time" }), "From … to …");
  const from = screen.getByLabelText<HTMLInputElement>("From");
  const asked = lastQuery(page, "GET /traces/analysis");
  expect(asked.get("since_ns")).toBe(`${now_ms - HOUR_MS}000000`);
  expect(asked.get("until_ns")).toBe(`${now_ms}000000`);
  expect(new Date(from.value).getTime()).toBe(now_ms - HOUR_MS);

  await page.select(screen.getByRole("combobox", { name: "Time" }), "All");
  await page.select(
    screen.getByRole("combobox", { name: "Run" }),
    screen.getByRole("option", { name: /^baseline/ }).textContent ?? "",
  );
  expect(lastQuery(page, "GET /traces/analysis").get("run")).toBe(summary().id);

  await page.select(screen.getByRole("combobox", { name: "Latency" }), "P… to P…");
  await page.fill(screen.getByLabelText("From P"), "10");
  await page.press("{Tab}");
  // Not applied before both are typed.
  expect(document.activeElement).toBe(screen.getByLabelText("to P"));
  expect(lastQuery(page, "GET /traces/analysis").get("high")).toBe("95");
  await page.fill(screen.getByLabelText("to P"), "30");
  await page.press("{Enter}");
  expect(lastQuery(page, "GET /traces/analysis").get("low")).toBe("10");
  expect(lastQuery(page, "GET /traces/analysis").get("high")).toBe("30");
  await page.fill(screen.getByLabelText("From P"), "40");
  expect(screen.getByLabelText("From P").getAttribute("aria-invalid")).toBe("true");

  await page.fill(screen.getByLabelText("Attribute"), "region=eu");
  await page.press("{Enter}");
  await page.click(screen.getByRole("checkbox", { name: "Count every root" }));
  const query = lastQuery(page, "GET /traces/analysis");
  expect([query.get("tag"), query.get("merge")]).toEqual(["region=eu", "merged"]);
  expect(window.location.search).toContain("roots=every");
});

it("compares two runs by name, and says what grew", async () => {
  const backend = tracesBackend();
  const second = "r-20261121-140000-1f2e3d";
  backend.on("GET /runs", () =>
    runsOf(summary({ name: "slow", id: second }), summary({ name: "baseline" })),
  );
  const page = await openTraces(`${ENDPOINT}&view=difference`, backend);
  expect(lastQuery(page, "GET /traces/difference").get("base")).toBe("low=45&high=55");
  const before = page.region("Before");
  const option = (name: RegExp) => before.getByRole("option", { name }).textContent ?? "";
  await page.select(before.getByRole("combobox", { name: "Run" }), option(/^baseline/));
  await page.select(page.region("After").getByRole("combobox", { name: "Run" }), option(/^slow/));
  const query = lastQuery(page, "GET /traces/difference");
  expect(new URLSearchParams(query.get("other") ?? "").get("run")).toBe(second);
  expect(new URLSearchParams(query.get("base") ?? "").get("run")).toBe(summary().id);
  expect(page.one("[data-lead]").textContent).toBe(
    "db SQL grew most: from 60.0 ms to 80.0 ms of its own a request (+20.0 ms).",
  );
  expect(document.body.textContent).toContain("run baseline, P45 to P55 → run slow, P98 to P100");
  expect(boxes()).toContain("▲ +20.0 ms db SQL");
  expect(inTable("Changes").getAllByRole("row")[1]?.textContent).toContain("db SQL");

  backend.on("GET /traces/difference", () =>
    difference({ base: { traces: 0, quantiles: { p50_ns: 0, p95_ns: 0, p99_ns: 0 } } }),
  );
  await page.click(screen.getByRole("button", { name: "Swap" }));
  expect(screen.getByText(/^Before has no requests/).textContent).toContain("process.pid");
});

it("says what an operation is worth, what its columns mean, and leaves it out of paths", async () => {
  const backend = tracesBackend();
  const page = await openTraces(`${ENDPOINT}&view=operations`, backend);
  expect(inTable("Operations").getAllByRole("row")[1]?.textContent).toContain("db SQL");
  await page.click(screen.getByText("What the columns mean"));
  expect(screen.getByText(/^By how much it could be slower/)).toBeTruthy();
  backend.on("GET /traces/analysis", () =>
    analysis({
      projection: {
        ...{ service: "db", operation: "SQL", less_ns: 20 * MS },
        quantiles: { p50_ns: 80 * MS, p95_ns: 180 * MS, p99_ns: 280 * MS },
      },
    }),
  );
  await page.click(inTable("Operations").getByRole("button", { name: "db SQL" }));
  expect(lastQuery(page, "GET /traces/analysis").get("less_ns")).toBe("20000000");
  const projection = page.region("Projection");
  expect(projection.getByRole("row", { name: /^P50/ }).textContent).toBe(
    "P500.100 s80.0 ms−20.0 ms",
  );
  await page.click(projection.getByRole("button", { name: "Leave it out of paths" }));
  expect(lastQuery(page, "GET /traces/analysis").getAll("exclude")).toEqual(["db SQL"]);
  await page.click(screen.getByRole("button", { name: "without db SQL ×" }));
  expect(lastQuery(page, "GET /traces/analysis").getAll("exclude")).toEqual([]);
});

it("divides an operation's time by an attribute, except for viewers", async () => {
  const backend = tracesBackend();
  const times = {
    own_ns: 40 * MS,
    mean_ns: 4 * MS,
    p50_ns: 4 * MS,
    p95_ns: 5 * MS,
    most_ns: 6 * MS,
  };
  const value = { spans: 10, traces: 9, values: 1, counts: [10, 0], ...times };
  backend.on("GET /traces/values", () => ({
    ...{ traces: 30, omitted: 0, key: "sku", bounds_ns: [MS, 5 * MS, 9 * MS] },
    keys: [
      { key: "sku", spans: 20, values: 14 },
      { key: "host.name", spans: 30, values: 1 },
    ],
    rows: [
      { kind: "value", value: "4212", ...value },
      { kind: "other", value: "", ...value, values: 13, own_ns: 20 * MS, counts: [0, 10] },
      { kind: "absent", value: "", ...value, values: 0, own_ns: 10 * MS },
    ],
  }));
  const page = await openTraces(`${ENDPOINT}&view=operations&project=db+SQL`, backend);
  expect(lastQuery(page, "GET /traces/values").get("of")).toBe("db SQL");
  const rows = inTable("Own time by attribute").getAllByRole("row").slice(1);
  expect(rows.map(({ textContent }) => textContent)).toEqual([
    "42124.00 ms5.00 ms6.00 ms40.0 ms10 9 ",
    "13 other values4.00 ms5.00 ms6.00 ms20.0 ms10 9 ",
    "without it4.00 ms5.00 ms6.00 ms10.0 ms10 9 ",
  ]);
  await page.select(screen.getByRole("combobox", { name: "Own time by" }), "host.name (1 value)");
  await page.settle();
  expect(lastQuery(page, "GET /traces/values").get("attribute")).toBe("host.name");
  expect(window.location.search).toContain("attribute=host.name");
});

it("hides attributes from viewers", async () => {
  const backend = tracesBackend();
  backend.role = "viewer";
  await openTraces(`${ENDPOINT}&view=operations&project=db+SQL`, backend);
  expect(screen.getByText(/^Operators can divide/)).toBeTruthy();
  expect(backend.requests("GET /traces/values")).toHaveLength(0);
});

it("shows days with trends; a day without requests is a gap", async () => {
  const backend = tracesBackend();
  const day = (at: number, traces: number) => ({
    ...{ begin_ns: Date.UTC(2026, 10, 21 + at) * MS, traces, omitted: 0 },
  });
  const none = { trend: null, direction: "none" } as const;
  backend.on("GET /traces/days", () => ({
    days: [day(0, 5), day(1, 0), day(2, 7)],
    p50_ns: { values: [MS, null, 2 * MS], ...none },
    p95_ns: { values: [3 * MS, null, 4 * MS], ...none },
    operations: [
      {
        ...{ service: "db", operation: "SQL" },
        shares: {
          values: [0.5, null, 0.6],
          trend: { slope: 0.05, low: 0.001, high: 0.062, p: 0.001 },
          direction: "up",
        },
      },
    ],
  }));
  await openTraces(`${ENDPOINT}&view=days`, backend);
  expect(screen.getByText("12 requests; 1 day without requests.")).toBeTruthy();
  expect(screen.getByText("21 Nov to 23 Nov, UTC")).toBeTruthy();
  const [, row] = inTable("Operations day by day").getAllByRole("row");
  expect(row?.textContent).toContain("+5.0 pp▲ up");
  expect(row?.textContent).toContain("55.0 %60.0 %+0.10 pp to +6.2 pp");
  const bars = within(row as HTMLElement).getByRole("img");
  expect(bars.getAttribute("aria-label")).toBe(
    "21 Nov: 50.0 %; 22 Nov: no requests; 23 Nov: 60.0 %",
  );
  expect(inTable("Latency day by day").getAllByRole("row")[1]?.textContent).toContain("P95");
});

it("describes the reference, and compares with an earlier set", async () => {
  const backend = tracesBackend();
  const now_ms = Date.now();
  const page = await openTraces(`${ENDPOINT}&view=errors`, backend);
  const panel = page.region("Unlike the others");
  expect(panel.getByText(/fewer than 30 requests/)).toBeTruthy();
  backend.on("GET /traces/analysis", () =>
    analysis({
      reference: 40,
      anomalies: [
        {
          ...{ trace_id: traceId(9), start_ns: 1, duration_ns: MS, kind: "missing", score: 12 },
          chain: [{ service: "shop", operation: "LOST" }],
        },
      ],
    }),
  );
  await page.click(panel.getByRole("radio", { name: "Against an earlier set" }));
  const asked = new URLSearchParams(lastQuery(page, "GET /traces/analysis").get("reference") ?? "");
  expect(asked.get("until_ns")).toBe(`${now_ms - HOUR_MS}000000`);
  expect(panel.getByText(/from 40 requests of the earlier set/)).toBeTruthy();
  const row = inTable("Unlike the others").getAllByRole("row")[1]?.textContent;
  expect(row).toContain("shop LOST");
  expect(row).toContain("lacks a call nearly all make");
});

it("goes through the heat map by keys, in words, and opens a request", async () => {
  const page = await openTraces(`${ENDPOINT}&view=heat`);
  const map = screen.getByRole("application");
  map.focus();
  await page.press("{ArrowRight}{ArrowRight}{ArrowRight}");
  const said = () => document.querySelector("output")?.textContent;
  expect(said()).toBe(
    "db SQL: 80.0 ms on the critical path of a request of 30.0 ms; 80.0 ms in shop GET /, db SQL",
  );
  await page.press("{ArrowDown}");
  expect(said()).toBe("cache get: not on the critical path of a request of 30.0 ms");
  await page.click(screen.getByText("As a table"));
  expect(inTable("Time of operations").getAllByRole("row")[1]?.textContent).toContain("db SQL");
  await page.click(screen.getByRole("radio", { name: "With its calls" }));
  await page.click(screen.getByRole("radio", { name: "By P95" }));
  await page.settle();
  const query = lastQuery(page, "GET /traces/heat");
  expect([query.get("metric"), query.get("percentile")]).toEqual(["inclusive", "95"]);
  map.focus();
  await page.press("{ArrowLeft}{ArrowLeft}{Enter}");
  expect(window.location.pathname).toMatch(/^\/traces\/[0-9a-f]{32}$/);
});

it("lists the requests that waited for a thread, and those of its process", async () => {
  const backend = tracesBackend();
  backend.on("GET /traces", () => ({ traces: [listed(1, { on_path_ns: 7 * MS })] }));
  const page = await openTraces("/traces?since=1&until=2&pid=42&tid=43", backend);
  const query = lastQuery(page, "GET /traces");
  expect([query.get("order"), query.get("pid"), query.get("thread_id")]).toEqual([
    ...["path", "42", "43"],
  ]);
  expect(inTable("Requests").getAllByRole("row")[1]?.textContent).toContain("7.00 ms");
  await page.click(screen.getByRole("button", { name: "Requests of process 42" }));
  expect(lastQuery(page, "GET /traces").get("thread_id")).toBeNull();
});
