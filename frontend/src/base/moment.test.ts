import { expect, it } from "vitest";
import { momentHref, parseMoment, requestsHref } from "./moment";
import { liveHref, parseRoute, runHref } from "./route";

const MOMENT = { tid: 42, from_ms: 1_700_000_000_000.5, to_ms: 1_700_000_002_000 };

it("is read back from the address of a target or a run", () => {
  for (const href of [liveHref("t-7-89abcdef"), runHref("r-20261121-130500-1f2e3d")]) {
    const url = new URL(momentHref(href, MOMENT), "http://x");
    expect(parseMoment(url.search)).toEqual(MOMENT);
    expect(parseRoute(url.pathname, url.search)).toEqual(parseRoute(...pathOf(href)));
  }
});

it.each(["", "?from=5", "?from=5&to=4", "?from=a&to=b"])("is not in %s", (query) => {
  expect(parseMoment(query)).toBeNull();
});

it("may be of a whole process", () => {
  expect(parseMoment("?from=1&to=2&tid=x")).toEqual({ tid: null, from_ms: 1, to_ms: 2 });
});

it("leads to the requests that then waited for it", () => {
  const query = "since=1700000000001&until=1700000002000";
  expect(requestsHref(7, MOMENT)).toBe(`/traces?${query}&pid=7&tid=42`);
  expect(requestsHref(null, { ...MOMENT, tid: null })).toBe(`/traces?${query}`);
});

function pathOf(href: string): [path: string, query: string] {
  const { pathname, search } = new URL(href, "http://x");
  return [pathname, search];
}
