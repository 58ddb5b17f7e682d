import { expect, it } from "vitest";
import { LEDGER_TARGET, LedgerFrames, type LedgerThread } from "../testing/ledgers";
import type { Frame } from "../wire/frame";
import { movingRates } from "./currentRates";
import { filterFrom } from "./filter";
import { tableView } from "./tableView";
import { TargetModel } from "./targetModel";
import { DEFAULT_REQUEST, DEFAULT_TABLE } from "./viewRequest";

const READER: LedgerThread = {
  ...{ tid: 1, name: "reader", start_s: 0.5 },
  stays: [
    [0.5, "on_cpu"],
    [1, "file_read_disk"],
    [4, "on_cpu"],
    [6, "file_write_disk"],
  ],
};
const PLAIN: LedgerThread = { ...READER, tid: 2, name: "plain" };

/** The same frame with a block I/O delay of each thread, seconds. */
function withDelay(frame: Frame, delays: Readonly<Record<number, number>>): Frame {
  const column = Float64Array.from(frame.tid, (tid) => 1e9 * (delays[tid] ?? 0));
  return {
    ...frame,
    fields: [...frame.fields, "blkio_delay_ns"],
    columns: [...frame.columns, column],
  };
}

it("replaces a delay that is longer than the thread's life by the ledger's", () => {
  const model = new TargetModel();
  const frames = new LedgerFrames([READER, PLAIN]);
  for (let i = 0; i <= 80; i++) {
    model.ingest(withDelay(frames.at(i / 10), { 1: i > 50 ? 5450 : 0, 2: 3 }));
  }
  const { now_s } = model;
  const input = {
    ...{ model, target: LEDGER_TARGET, request: DEFAULT_REQUEST, filter: filterFrom("") },
    ...{ span: { t0_s: 0, t1_s: 8 }, now_s },
  };
  const view = tableView(input, movingRates(model), DEFAULT_TABLE);
  const column = view.fields.indexOf("blkio_delay_ns");
  const row = (tid: number) => view.rows.find((each) => each.tid === tid);
  expect(row(1)?.invalid).toEqual(["blkio_delay_ns"]);
  // Three seconds of reading, and two of a write that is under way.
  expect(row(1)?.totals[column]).toBeCloseTo(5e9, 0);
  expect(row(2)?.invalid).toEqual([]);
  expect(row(2)?.totals[column]).toBe(3e9);
});
