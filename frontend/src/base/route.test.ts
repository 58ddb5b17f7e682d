import { describe, expect, it } from "vitest";
import { attachedHref, liveHref, parseRoute, traceHref } from "./route";

const LIVE = { page: "live", pid: null, target: null, mistake: "" };

describe("parseRoute", () => {
  it("knows the pages", () => {
    expect(parseRoute("/", "")).toEqual(LIVE);
    expect(parseRoute("/doctor", "?x=1")).toEqual({ page: "doctor" });
    expect(parseRoute("/runs", "")).toEqual({ page: "runs" });
    expect(parseRoute("/runs/r-20261121-130500-1f2e3d", "")).toEqual({
      page: "run",
      id: "r-20261121-130500-1f2e3d",
    });
    expect(parseRoute("/runs/../x", "")).toEqual({ page: "unknown", path: "/runs/../x" });
    expect(parseRoute("/compare", "?runs=a,b")).toEqual({ page: "compare", query: "runs=a,b" });
    expect(parseRoute("/traces", "?view=heat")).toEqual({ page: "traces", query: "view=heat" });
    const trace = "0123456789abcdef0123456789abcdef";
    expect(parseRoute(traceHref(trace), "")).toEqual({ page: "trace", id: trace });
    expect(parseRoute(traceHref("trace:G"), "")).toEqual({ page: "trace", id: "trace:G" });
    expect(parseRoute("/traces/x y", "")).toEqual({ page: "unknown", path: "/traces/x y" });
    expect(parseRoute("/other", "")).toEqual({ page: "unknown", path: "/other" });
  });

  it("reads deep links", () => {
    expect(parseRoute("/", "?pid=123")).toEqual({ ...LIVE, pid: 123 });
    expect(parseRoute("/", "?target=t-123-0123abcd")).toEqual({
      ...LIVE,
      target: "t-123-0123abcd",
    });
  });

  it("prefers the target to the pid", () => {
    expect(parseRoute("/", "?pid=1&target=t-2-00000000")).toEqual({
      ...LIVE,
      target: "t-2-00000000",
    });
  });

  it.each([
    ["?pid=0", '"0"'],
    ["?pid=abc", '"abc"'],
    ["?pid=-4", '"-4"'],
    ["?pid=99999999999", '"99999999999"'],
    ["?target=../x", '"../x"'],
  ])("names what is wrong with %s", (query, named) => {
    const route = parseRoute("/", query);
    expect(route).toMatchObject({ page: "live", pid: null, target: null });
    expect(route.page === "live" && route.mistake).toContain(named);
  });
});

describe("liveHref", () => {
  it("is read back by parseRoute", () => {
    const url = new URL(liveHref("t-7-89abcdef"), "http://x");
    expect(parseRoute(url.pathname, url.search)).toEqual({ ...LIVE, target: "t-7-89abcdef" });
  });
});

describe("attachedHref", () => {
  it("names the target in place of the process, and keeps the rest", () => {
    expect(attachedHref("t-7-89abcdef", "?pid=7&idle=folded")).toBe(
      "/?target=t-7-89abcdef&idle=folded",
    );
    expect(attachedHref("t-7-89abcdef", "?pid=7")).toBe(liveHref("t-7-89abcdef"));
    expect(attachedHref("t-7-89abcdef", "")).toBe(liveHref("t-7-89abcdef"));
  });
});
