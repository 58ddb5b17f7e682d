import { describe, expect, it } from "vitest";
import {
  ALL_TRACES,
  analysisQuery,
  differenceQuery,
  EMPTY_TRACES,
  endpointsQuery,
  longestPause,
  parseTracesLink,
  requestsQuery,
  type TracesLink,
  tracesHref,
  valuesQuery,
} from "./link";

const RUN = "r-20261123-090000-0123ab";
const FULL: TracesLink = {
  service: "frontend",
  operation: "HTTP GET /dispatch?x=1&y",
  view: "difference",
  since_ms: 1_700_000_000_123,
  until_ms: 1_700_000_060_000,
  low: 45,
  high: 55,
  tag: "http.status_code=200",
  run: "",
  zoom: ["frontend HTTP GET /dispatch", "mysql SQL SELECT"],
  search: "sql",
  exclude: ["redis GetDriver"],
  base: { since_ms: 1, until_ms: 2, low: 0, high: 50, tag: "", run: "" },
  other: { since_ms: null, until_ms: null, low: 97, high: 100, tag: "a=b&c=d", run: RUN },
  reference: { ...ALL_TRACES, until_ms: 5 },
  everyRoot: true,
  project: "mysql SQL SELECT",
  less_ms: 12.5,
  attribute: "host.name",
  heatMetric: "inclusive",
  heatRank: "P95",
  pid: 77,
  tid: 78,
};

const queryOf = (href: string) => href.split("?")[1] ?? "";

describe("the link", () => {
  it("reproduces the view", () => {
    expect(parseTracesLink(queryOf(tracesHref(FULL)))).toEqual(FULL);
    expect(tracesHref({})).toBe("/traces");
    expect(parseTracesLink("")).toEqual(EMPTY_TRACES);
  });

  it("ignores what is invalid", () => {
    const link = parseTracesLink(
      "view=nonsense&low=80&high=20&since=x&less=-3&pid=0&run=r-1&roots=no",
    );
    expect(link).toEqual(EMPTY_TRACES);
  });

  it("asks the backend in nanoseconds, to the last digit", () => {
    const query = new URLSearchParams(analysisQuery(FULL));
    expect(query.get("since_ns")).toBe("1700000000123000000");
    expect(query.get("low")).toBe("45");
    expect(query.get("tag")).toBe("http.status_code=200");
    expect(query.getAll("exclude")).toEqual(["redis GetDriver"]);
    // Only the ranking shows a projection.
    expect(query.get("project")).toBeNull();
    const projected = new URLSearchParams(analysisQuery({ ...FULL, view: "operations" }));
    expect(projected.get("less_ns")).toBe("12500000");
    expect(projected.get("merge")).toBe("merged");
    expect(projected.get("reference")).toBeNull();
    expect(valuesQuery({ ...FULL, project: "" })).toBeNull();
    const values = new URLSearchParams(valuesQuery(FULL) ?? "");
    expect([values.get("of"), values.get("attribute"), values.get("merge")]).toEqual([
      ...["mysql SQL SELECT", "host.name", "merged"],
    ]);
    const errors = new URLSearchParams(analysisQuery({ ...FULL, view: "errors" }));
    expect(errors.get("reference")).toBe("until_ns=5000000");
  });

  it("asks for a difference once both sets are chosen", () => {
    expect(differenceQuery({ ...FULL, base: null })).toBeNull();
    const query = new URLSearchParams(differenceQuery(FULL) ?? "");
    expect(new URLSearchParams(query.get("other") ?? "").get("tag")).toBe("a=b&c=d");
    expect(new URLSearchParams(query.get("other") ?? "").get("run")).toBe(RUN);
    expect(new URLSearchParams(query.get("base") ?? "").get("until_ns")).toBe("2000000");
  });

  it("asks for endpoints by time alone, and for the requests of a thread", () => {
    expect(endpointsQuery(FULL)).toBe("since_ns=1700000000123000000&until_ns=1700000060000000000");
    const query = new URLSearchParams(requestsQuery({ ...EMPTY_TRACES, tid: 78 }, "slowest"));
    expect(Object.fromEntries(query)).toEqual({ thread_id: "78", order: "slowest" });
  });
});

describe("longestPause", () => {
  const stay = (from_ms: number, to_ms: number) => ({
    start_ns: from_ms * 1e6,
    duration_ns: (to_ms - from_ms) * 1e6,
  });

  it("is where no request is under way, in whichever order they come", () => {
    expect(longestPause([stay(9, 12), stay(1, 1.5), stay(2, 5), stay(7, 8)])).toBe(6);
    expect(longestPause([stay(0, 20), stay(1, 2), stay(18, 19), stay(24, 25)])).toBe(22);
  });

  it("is nowhere if there always is one, or is only one", () => {
    expect(longestPause([stay(1, 9)])).toBeNull();
    expect(longestPause([])).toBeNull();
    expect(longestPause([stay(1, 5), stay(2, 3), stay(5, 8)])).toBeNull();
  });
});
