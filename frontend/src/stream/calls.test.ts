import { expect, it } from "vitest";
import { factInput, factModel, LEDGER_TARGET } from "../testing/factModel";
import { callsView } from "./calls";
import { quantile } from "./facts/stayHistogram";

const model = factModel(
  ["reader-1", "reader-2"],
  [0, 10].map((t_s) => ({
    t_s,
    facts: {
      calls: [
        { tid: 1, call: 0, count: 100 * t_s, ns: 5e7 * t_s, name: "read" },
        { tid: 2, call: 0, count: 100 * t_s, ns: 5e7 * t_s, name: "read" },
        { tid: 2, call: 1, count: 10 * t_s, ns: 2e8 * t_s, name: "write" },
      ],
      call_stays: [
        { tid: 1, call: 0, bucket: 5, count: 90 * t_s },
        { tid: 2, call: 0, bucket: 5, count: 90 * t_s },
        { tid: 2, call: 0, bucket: 10, count: 20 * t_s },
      ],
    },
  })),
);

it("sums system calls of all threads, with quantiles of their length", () => {
  const { rows } = callsView(factInput(model));
  expect(rows.map(({ name, per_s, time }) => [name, per_s, time])).toEqual([
    ["write", 10, 0.2],
    ["read", 200, 0.1],
  ]);
  const read = rows[1];
  expect(read?.mean_s).toBeCloseTo(0.0005);
  expect(read).toMatchObject({ threads: 2, role: "reader-#" });
  // Bucket 5 ends at 32 µs, bucket 10 at 1.05 ms.
  expect(read?.p50_s).toBeGreaterThan(16.3e-6);
  expect(read?.p50_s).toBeLessThan(32.8e-6);
  expect(read?.p95_s).toBeGreaterThan(0.5e-3);
  expect(read?.p99_s).toBeLessThan(1.05e-3);
  expect(rows[0]?.p50_s).toBeNaN();
});

it("says that calls are not counted", () => {
  const source = { ...LEDGER_TARGET.source, calls: false };
  const view = callsView({ ...factInput(model), target: { ...LEDGER_TARGET, source } });
  expect(view.state).toBe("absent");
});

it("finds quantiles within buckets, and gives the last one's lower end", () => {
  expect(quantile([], 0.5)).toBeNaN();
  expect(quantile([0, 4], 1)).toBeCloseTo(2048e-9);
  expect(quantile([0, 4], 0.5)).toBeCloseTo(Math.SQRT2 * 1024e-9);
  const last = new Float64Array(24);
  last[23] = 1;
  expect(quantile(last, 0.5)).toBeCloseTo(2 ** 32 / 1e9);
});
