/** One request: its waterfall, and the activity of its spans' threads. */

import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { problem, refuse } from "../../testing/backend";
import type { TestPage } from "../../testing/TestPage";
import {
  detail,
  GET,
  MS,
  openTraces,
  SQL,
  span,
  thread,
  traceId,
  tracesBackend,
} from "../../testing/traces";
import type { TraceDetail } from "../../wire/generated/models";

const ADDRESS = `/traces/${traceId(2)}` as const;
const spans = () => [...document.querySelectorAll<HTMLElement>("tr[data-span]")];
const names = () => spans().map((row) => row.querySelector("button[data-row]")?.textContent);

function open(found: TraceDetail = detail()): Promise<TestPage> {
  const backend = tracesBackend();
  backend.on(`GET ${ADDRESS}`, () => found);
  return openTraces(ADDRESS, backend);
}

it("shows spans below their callers, and folds and filters them", async () => {
  const page = await open();
  expect(names()).toEqual(["shop GET /", "db SQL", "failed cache get"]);
  expect(spans()[2]?.dataset.beside).toBe("true");
  expect(spans()[1]?.lastElementChild?.textContent).toBe("60.0 ms");
  await page.click(screen.getByRole("checkbox", { name: "Only calls on the path" }));
  expect(names()).toEqual(["shop GET /", "db SQL"]);
  spans()[0]?.querySelector<HTMLElement>("button[data-row]")?.focus();
  await page.press("{ArrowLeft}");
  expect(names()).toEqual(["shop GET /"]);
  await page.press("{ArrowRight}{ArrowDown}{Enter}");
  expect(document.activeElement?.textContent).toBe("db SQL");
  expect(screen.getByRole("region", { name: "Span db SQL" })).toBeTruthy();
});

it("says who released the lock that a span waited for, and leads to its thread on Live", async () => {
  await open();
  const path = within(screen.getByRole("table", { name: "Spans of the critical path" }));
  expect(path.getAllByRole("row")[1]?.textContent).toContain(
    "Locks 50.0 ms (83.3 %), released by flusher",
  );
  const link = screen.getByRole("link", { name: "Its thread on Live at that time" });
  const url = new URL(link.getAttribute("href") ?? "", "http://x");
  expect(url.searchParams.get("target")).toBe("t-42-0123abcd");
  expect(url.searchParams.get("tid")).toBe("43");
  // From 20 to 80 ms, with a quarter of a second on both sides.
  const start = 1_700_000_000_020;
  expect(Number(url.searchParams.get("from"))).toBeCloseTo(start - 250, 0);
  expect(Number(url.searchParams.get("to"))).toBeCloseTo(start + 60 + 250, 0);
  expect(document.body.textContent).not.toContain("guess");
});

it("marks what is a guess where a span is joined by process", async () => {
  const parts = [
    { reason: "locks" as const, ns: 40 * MS },
    { reason: "idle" as const, ns: 20 * MS },
  ];
  const joined = thread({ joined_by: "process", tid: null, thread_name: null, parts, locks: [] });
  const page = await open(detail({ threads: [joined] }));
  expect(document.querySelectorAll('[data-guess="true"]').length).toBeGreaterThan(1);
  expect(page.region("Threads meanwhile").getByText("Locks (guess)")).toBeTruthy();
  expect(page.region("Threads meanwhile").getByText(/is a guess, by how much/)).toBeTruthy();
  // A guess has a time, and no share.
  expect(page.region("Threads meanwhile").queryByText(/40\.0 ms \(/)).toBeNull();
});

it("gives no share of a span of which nothing was measured, and says why", async () => {
  const note = "What its thread did is unknown: the samples around it are too far apart for 60 ms.";
  const parts = [{ reason: "unknown" as const, ns: 60 * MS }];
  const page = await open(detail({ threads: [thread({ parts, coverage: 0, note, locks: [] })] }));
  const row = page.region("Critical path").getAllByRole("row").at(1);
  expect(row?.textContent).toContain("unknown");
  expect(row?.textContent).not.toContain("(100");
  const meanwhile = page.region("Threads meanwhile");
  expect(meanwhile.getByText(new RegExp(note))).toBeTruthy();
  expect(meanwhile.queryByText(/Not measured/)).toBeNull();
  expect(meanwhile.queryByText(/\(100/)).toBeNull();
});

it("says why a span is not joined", async () => {
  const note = "not on this host: the span is of host elsewhere";
  const none = thread({
    ...{ joined_by: null, target_id: null, tid: null, parts: [], locks: [], coverage: 0, note },
  });
  const page = await open(detail({ threads: [none] }));
  expect(page.region("Threads meanwhile").getByText(new RegExp(note))).toBeTruthy();
  expect(screen.queryByRole("link", { name: /on Live/ })).toBeNull();
});

it("draws the rows in sight of a trace with ten thousand spans", async () => {
  const many = Array.from({ length: 10_000 }, (_, n) =>
    n === 0 ? span(1, 0, GET, [0, 10_000]) : span(n + 1, 1, SQL, [n, n + 1]),
  );
  await open(detail({ spans: many, path: [], threads: [] }));
  expect(spans().length).toBeGreaterThan(10);
  expect(spans().length).toBeLessThan(80);
  const table = document.querySelector('table[aria-label="Waterfall"]');
  expect(table?.getAttribute("aria-rowcount")).toBe("10001");
});

it("says that a trace is gone, and that a route fails", async () => {
  const backend = tracesBackend();
  backend.on(`GET ${ADDRESS}`, () => refuse(problem("unknown-trace", { status: 404 })));
  const page = await openTraces(ADDRESS, backend);
  expect(screen.getByText("Trace not found")).toBeTruthy();
  page.leave();
  backend.on(`GET ${ADDRESS}`, () => refuse(problem("internal", { status: 500 })));
  await openTraces(ADDRESS, backend);
  expect(screen.getByRole("button", { name: "Try again" })).toBeTruthy();
});
