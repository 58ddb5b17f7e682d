import { expect, it } from "vitest";
import { LEDGER_TARGET, LedgerFrames, type LedgerThread } from "../testing/ledgers";
import type { Frame } from "../wire/frame";
import { movingRates } from "./currentRates";
import { deviation, type InexactLabel, Reconciliation } from "./inexact";
import { filterFrom } from "./rank";
import { tableView } from "./tableView";
import { TargetModel } from "./targetModel";
import { DEFAULT_REQUEST, DEFAULT_TABLE } from "./viewRequest";
import type { TableView } from "./views";

const FIELD = "blkio_delay_ns";
const READER: LedgerThread = {
  ...{ tid: 1, name: "reader", start_s: 0 },
  stays: Array.from({ length: 80 }, (_, i) => [i / 10 + 0.05, i % 2 === 0 ? "sleep" : "on_cpu"]),
};
const PLAIN: LedgerThread = { ...READER, tid: 2, name: "plain" };

/** The frame with a block I/O delay of each thread, in seconds; NaN if absent. */
function withDelay(frame: Frame, delays: Readonly<Record<number, number>>): Frame {
  const column = Float64Array.from(frame.tid, (tid) => 1e9 * (delays[tid] ?? 0));
  return {
    ...frame,
    fields: [...frame.fields, FIELD],
    columns: [...frame.columns, column],
  };
}

/** The frame with a row of the table `inexact` for thread 1; null if the row is gone. */
function withLabel(frame: Frame, label: InexactLabel | null): Frame {
  const columns = {
    tid: Uint32Array.of(1),
    field: Uint32Array.of(16),
    kernel: Float64Array.of(label ? 5450e9 : 0),
    life_ns: Float64Array.of(label ? 5e9 : 0),
    name: [FIELD],
    label: [label ?? "ledger"],
  };
  return { ...frame, tables: { ...frame.tables, inexact: { rows: 1, columns } } };
}

function viewOf(model: TargetModel): TableView {
  const { now_s } = model;
  const input = {
    ...{ model, target: LEDGER_TARGET, request: DEFAULT_REQUEST, filter: filterFrom("") },
    ...{ span: { t0_s: 0, t1_s: 8 }, now_s },
  };
  return tableView(input, movingRates(model), DEFAULT_TABLE);
}

/** A model of eight seconds; from the fifth on the value of thread 1 is not the kernel's. */
function modelOf(label: InexactLabel, value_s: number): TargetModel {
  const model = new TargetModel();
  const frames = new LedgerFrames([READER, PLAIN]);
  for (let i = 0; i <= 80; i++) {
    const frame = withDelay(frames.at(i / 10), { 1: i < 50 ? i / 20 : value_s + i / 20, 2: 3 });
    model.ingest(i < 50 ? frame : withLabel(frame, label));
  }
  return model;
}

it("shows the ledger's time and says whose it is", () => {
  const view = viewOf(modelOf("ledger", 0));
  const column = view.fields.indexOf(FIELD);
  const row = (tid: number) => view.rows.find((each) => each.tid === tid);
  expect(row(1)?.inexact).toEqual([{ field: FIELD, label: "ledger", kernel: 5450e9, life_s: 5 }]);
  expect(row(1)?.totals[column]).toBeCloseTo(4e9, 0);
  expect(row(1)?.rates[column]).toBeCloseTo(0.5e9, 0);
  expect(row(2)?.inexact).toEqual([]);
  expect(row(2)?.totals[column]).toBe(3e9);
});

it("shows neither total nor rate where there is no value", () => {
  const view = viewOf(modelOf("invalid", Number.NaN));
  const column = view.fields.indexOf(FIELD);
  const row = view.rows.find((each) => each.tid === 1);
  expect(row?.totals[column]).toBeNaN();
  expect(row?.rates[column]).toBeNaN();
});

it("forgets a label that is gone", () => {
  const model = modelOf("at_least", 0);
  expect(viewOf(model).rows.flatMap(({ inexact }) => inexact)).toHaveLength(1);
  const frames = new LedgerFrames([READER, PLAIN]);
  for (let i = 0; i <= 81; i++) {
    const frame = withDelay(frames.at(i / 10), { 1: i / 20, 2: 3 });
    model.ingest(withLabel(frame, null));
  }
  expect(viewOf(model).rows.flatMap(({ inexact }) => inexact)).toEqual([]);
});

it("keeps what an exit says of a thread's totals", () => {
  const model = modelOf("invalid", Number.NaN);
  const thread = model.threads.live.get(1);
  if (!thread) throw new Error("thread 1 lives");
  const event = {
    ...({ type: "thread_exited", tid: 1, start_ns: thread.start_ns, name: "reader" } as const),
    ...{ totals: {}, exact: true, seen_alive: true, inexact: [FIELD, "swapin_delay_ns"] },
  };
  model.inexactValues.end(thread, event);
  thread.end_s = 8;
  expect(model.inexactValues.of(thread).map(({ field, label }) => [field, label])).toEqual([
    [FIELD, "invalid"],
    ["swapin_delay_ns", "invalid"],
  ]);
});

it("calls the CPU time of an ended thread without a ledger an estimate", () => {
  const model = modelOf("ledger", 0);
  const thread = model.threads.live.get(2);
  if (!thread) throw new Error("thread 2 lives");
  model.inexactValues.end(thread, {
    ...({ type: "thread_exited", tid: 2, start_ns: thread.start_ns, name: "plain" } as const),
    ...{ totals: { cpu_run_ns: 4e6 }, exact: true, seen_alive: true, inexact: ["cpu_run_ns"] },
  });
  thread.end_s = 8;
  expect(model.inexactValues.of(thread).map(({ label }) => label)).toEqual(["estimated"]);
});

it("compares growth, since what ended before is in the process alone", () => {
  const book = new Reconciliation();
  expect(book.check).toBeNull();
  book.note(100e9, 10e9);
  expect(book.check).toBeNull();
  book.note(102e9, 11.9e9);
  expect(book.check).toEqual({ process_s: 2, threads_s: expect.closeTo(1.9, 9) });
  const { check } = book;
  expect(check && deviation(check)).toBeCloseTo(-0.05, 9);
});

it("leaves out frames that do not tell both", () => {
  const book = new Reconciliation();
  book.note(null, 1e9);
  book.note(1e9, Number.NaN);
  book.note(1e9, 1e9);
  book.note(null, 9e9);
  expect(book.check).toBeNull();
});

it("says nothing of a process that has used next to nothing", () => {
  expect(deviation({ process_s: 0.001, threads_s: 0.002 })).toBeNaN();
});
