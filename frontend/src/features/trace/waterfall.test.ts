import { describe, expect, it } from "vitest";
import type { TraceSpan } from "../../wire/generated/models";
import { changeSign, changeText, operationChanges } from "../traces/callTree";
import { besidePath, unfolded, waterfallOf } from "./waterfall";

const T0 = 1_700_000_000_000_000_000;

function span(id: string, parent: string, start: number, end: number): TraceSpan {
  return {
    ...{ span_id: id, parent_id: parent, service: "s", operation: id, kind: "internal" as const },
    ...{ start_ns: T0 + 1e6 * start, duration_ns: 1e6 * (end - start), error: false },
    ...{ pid: null, thread_id: null, attributes: {} },
  };
}

const part = (span_id: string, start: number, end: number) => ({
  ...{ span_id, start_ns: T0 + 1e6 * start, end_ns: T0 + 1e6 * end },
});

/** a calls b and c, b calls d; the path is a, b, d, b, a. */
const DETAIL = {
  trace_id: "0".repeat(32),
  spans: [span("a", "", 0, 100), span("c", "a", 15, 40), span("b", "a", 10, 90)],
  path: [part("a", 0, 10), part("b", 10, 30), part("d", 30, 60), part("b", 60, 90)],
  skew: { truncated: 0, dropped: 0 },
  threads: [],
};
const SPANS = [...DETAIL.spans, span("d", "b", 30, 60)];
const trace = { ...DETAIL, spans: SPANS, path: [...DETAIL.path, part("a", 90, 100)] };

describe("waterfallOf", () => {
  it("puts each span below its caller, those of one caller by start", () => {
    const { rows, duration_ns, path_ns } = waterfallOf(trace);
    expect(rows.map((row) => [row.span.span_id, row.depth, row.calls])).toEqual([
      ["a", 1, 2],
      ["b", 2, 1],
      ["d", 3, 0],
      ["c", 2, 0],
    ]);
    expect(duration_ns).toBe(100e6);
    expect(path_ns).toBe(100e6);
    // Unix nanoseconds exceed the precision of a number.
    const path = (rows[1]?.path ?? []).flatMap(({ left, width }) => [left, width]);
    expect(path.map((part) => Number(part.toFixed(4)))).toEqual([0.1, 0.2, 0.6, 0.3]);
    expect(rows.map(({ own_ns }) => Math.round(own_ns / 1e6))).toEqual([20, 50, 30, 0]);
  });

  it("keeps what has no caller, and what goes in a circle", () => {
    const spans = [span("a", "gone", 0, 10), span("b", "c", 1, 2), span("c", "b", 1, 3)];
    const { rows } = waterfallOf({ ...trace, spans, path: [] });
    expect(rows.map((row) => [row.span.span_id, row.depth])).toEqual([
      ["a", 1],
      ["b", 1],
      ["c", 2],
    ]);
    expect(waterfallOf({ ...trace, spans: [], path: [] })).toMatchObject({
      rows: [],
      duration_ns: 0,
    });
  });

  it("holds a chain of ten thousand calls", () => {
    const spans = Array.from({ length: 10_000 }, (_, at) =>
      span(`n${at}`, at === 0 ? "" : `n${at - 1}`, 0, 10_000 - at),
    );
    expect(waterfallOf({ ...trace, spans, path: [] }).rows.at(-1)?.depth).toBe(10_000);
  });
});

describe("rows", () => {
  it("are hidden below one that is folded", () => {
    const { rows } = waterfallOf(trace);
    const seen = unfolded(rows, new Set(["b"])).map((row) => row.span.span_id);
    expect(seen).toEqual(["a", "b", "c"]);
    expect(unfolded(rows, new Set(["a", "b"])).map((row) => row.span.span_id)).toEqual(["a"]);
  });

  it("are beside the path if nothing below them is on it", () => {
    const { rows } = waterfallOf({ ...trace, path: [part("d", 30, 60)] });
    expect([...besidePath(rows)]).toEqual(["c"]);
  });
});

describe("operationChanges", () => {
  it("adds an operation up wherever it is called, the greatest change first", () => {
    const name = ["a", "b", "b"].map((operation) => ({ service: "s", operation }));
    const changes = operationChanges({
      ...{ name, parent: [-1, 0, 1] },
      ...{ base_inclusive_ns: [100, 60, 10], other_inclusive_ns: [150, 130, 30] },
      ...{ base_exclusive_ns: [40, 50, 10], other_exclusive_ns: [20, 100, 30] },
      exemplars: ["1", "2", "3"].map((digit) => [digit.repeat(32)]),
    });
    expect(changes).toEqual([
      {
        ...{ name: "s b", base_ns: 60, other_ns: 130, change_ns: 70 },
        exemplars: ["2".repeat(32)],
      },
      {
        ...{ name: "s a", base_ns: 40, other_ns: 20, change_ns: -20 },
        exemplars: ["1".repeat(32)],
      },
    ]);
  });
});

describe("changes as text", () => {
  it("have a sign", () => {
    expect(changeText(12_300_000)).toBe("+12.3 ms");
    expect(changeText(-4000)).toBe("−4.00 µs");
    expect(changeText(0.2)).toBe("±0");
    expect(changeSign(12_300_000)).toBe("▲ +12.3 ms");
    expect(changeSign(-4000)).toBe("▼ −4.00 µs");
    expect(changeSign(0)).toBe("");
  });
});
