import { expect, it } from "vitest";
import { chart, line } from "../../testing/charts";
import { chartTable } from "./chartTable";

const seconds = (count: number) => Array.from({ length: count }, (_, n) => n);
const times = (rows: readonly { readonly unix_ms: number }[]) =>
  rows.map(({ unix_ms }) => unix_ms / 1000);

it("has a row at each round time of the clock, the newest first", () => {
  const t = seconds(61);
  const view = chart(t, [{ low: t }], { t0_s: 0, t1_s: 60, attached_unix_ms: 2000 });
  const { columns, rows } = chartTable(view);
  expect(columns.map(({ name }) => name)).toEqual(["main"]);
  expect(times(rows)).toEqual([62, 60, 55, 50, 45, 40, 35, 30, 25, 20, 15, 10, 5]);
  expect(rows[1]?.cells).toEqual(["58.0 cores"]);
});

it("says what bands of a stack are high, and where those of a spread reach", () => {
  const bands = [
    { line: line({ name: "a" }), low: [0, 0], high: [1, 2] },
    { line: line({ name: "b" }), low: [1, 2], high: [1.5, 2] },
  ];
  const stack = chart([0, 10], bands, { stacked: true });
  expect(chartTable(stack).rows[0]?.cells).toEqual(["2.00 cores", "0 cores"]);
  const spread = chart([0, 10], bands);
  expect(chartTable(spread).rows[0]?.cells).toEqual(["0 cores to 2.00 cores", "2.00 cores"]);
});

it("has a row for each change of what holds until it changes", () => {
  const size = [4, 4, 4, 8, 8, 2, 2];
  const view = chart(seconds(7), [{ low: size }], { step: true, unit: "count" });
  const { rows } = chartTable(view);
  expect(rows.map(({ cells }) => cells[0])).toEqual(["2", "8", "4"]);
});

it("keeps threads of one name apart, and has no row where nothing was sampled", () => {
  const view = chart(
    [0, 1, 2, 50, 51],
    [
      { line: line({ name: "w", tid: 7 }), low: [1, 1, 1, 1, 1] },
      { line: line({ name: "w", tid: 8, key: "8@0" }), low: [1, 1, Number.NaN, 1, Number.NaN] },
    ],
    { t0_s: 0, t1_s: 60, attached_unix_ms: 0 },
  );
  const { columns, rows } = chartTable(view);
  expect(columns.map(({ name }) => name)).toEqual(["w 7", "w 8"]);
  expect(times(rows)).toEqual([51, 50, 5, 0]);
  expect(rows[0]?.cells).toEqual(["1.00 cores", "–"]);
});
