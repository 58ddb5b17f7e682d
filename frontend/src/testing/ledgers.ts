/**
 * Frames of threads with known stays in states: ledgers as the collector sends them. The rows of a
 * program with constant thread activity, like tests/e2e/fixtures/steady_work.c.
 */

import { SINCE_FIELD, STATE_FIELD, STATES, type StateId } from "../stream/states";
import type { Frame } from "../wire/frame";
import type { TargetEvent } from "../wire/generated/models";
import { type Counters, type FrameChanges, frame, type Row, TARGET } from "./frames";

/** Start of a stay in a state, in seconds since attach; "ended" is the last one. */
export type Stay = readonly [from_s: number, state: StateId | "ended"];

export interface LedgerThread {
  readonly tid: number;
  readonly name: string;
  /** Seconds since attach; negative if the thread started before. */
  readonly start_s: number;
  readonly stays: readonly Stay[];
  /** The thread has no ledger, because the table was full. */
  readonly without?: boolean;
}

const FIELDS = [
  "cpu_run_ns",
  "cpu_delay_ns",
  ...STATES.map(({ field }) => field),
  STATE_FIELD,
  SINCE_FIELD,
];

/** Target of these frames. */
export const LEDGER_TARGET = {
  ...TARGET,
  fields: FIELDS,
  source: { ...TARGET.source, ledger: true, ledger_reason: null },
};

/** Values of a thread's row at an instant, by field, or null if the thread does not exist. */
export function ledgerRow(thread: LedgerThread, t_s: number): Record<string, number> | null {
  const { stays, start_s, without = false } = thread;
  if (t_s < start_s) return null;
  const row: Record<string, number> = Object.fromEntries(FIELDS.map((field) => [field, 0]));
  const current = stays.findLast(([from_s]) => from_s <= t_s) ?? stays[0];
  if (!current || current[1] === "ended") return null;
  for (const [field, ns] of Object.entries(finished(thread, t_s))) row[field] = ns;
  row.cpu_run_ns = row.state_on_cpu_ns ?? 0;
  row.cpu_delay_ns = (row.state_preempted_ns ?? 0) + (row.state_woken_ns ?? 0);
  row[STATE_FIELD] = STATES.findIndex(({ id }) => id === current[1]) + 1;
  row[SINCE_FIELD] = nanoseconds(current[0]);
  if (without) {
    for (const field of FIELDS) if (field.startsWith("state")) row[field] = Number.NaN;
  }
  return row;
}

/** Time in finished stays at an instant, since attach, ns by field. */
export function finished({ stays }: LedgerThread, t_s: number): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const [i, [from_s, state]] of stays.entries()) {
    const end_s = stays[i + 1]?.[0] ?? Number.POSITIVE_INFINITY;
    if (end_s > t_s || state === "ended") continue;
    const field = `state_${state}_ns`;
    sums[field] = (sums[field] ?? 0) + Math.round(1e9 * end_s) - nanoseconds(from_s);
  }
  return sums;
}

/** Convert seconds since attach to nanoseconds. */
function nanoseconds(t_s: number): number {
  return Math.round(1e9 * Math.max(0, t_s));
}

/** Frames of some threads: a key frame first, later only changed rows. */
export class LedgerFrames {
  private seq = 0;
  private readonly sent = new Map<number, string>();

  constructor(readonly threads: readonly LedgerThread[]) {}

  /** Build the next frame; its rows may have been read somewhat after its time. */
  at(t_s: number, changes: Partial<FrameChanges> = {}, read_s = t_s): Frame {
    this.seq++;
    const key = this.seq === 1;
    const events: TargetEvent[] = [];
    const rows: [LedgerThread, Record<string, number>][] = [];
    for (const thread of this.threads) {
      const { tid, name, start_s, stays } = thread;
      const row = ledgerRow(thread, read_s);
      const known = this.sent.get(tid);
      if (row === null) {
        const [end_s, last] = stays.at(-1) ?? [0, ""];
        if (known === undefined || last !== "ended") continue;
        this.sent.delete(tid);
        events.push({
          ...{ type: "thread_exited", tid, name, start_ns: 1e9 * start_s, exact: true },
          seen_alive: true,
          lifetime_ns: 1e9 * (end_s - start_s),
          totals: { cpu_run_ns: 0, cpu_delay_ns: 0, ...finished(thread, end_s) },
        });
        continue;
      }
      if (!key && known === undefined) {
        events.push({ type: "thread_born", tid, name, start_ns: 1e9 * start_s });
      }
      const text = JSON.stringify(row);
      if (text === known) continue;
      this.sent.set(tid, text);
      rows.push([thread, row]);
    }
    const empty = frame({ seq: this.seq, t_s, events, ...changes }, []);
    return {
      ...empty,
      header: { ...empty.header, kind: key ? "key" : "delta", rows: rows.length },
      tid: Uint32Array.from(rows, ([{ tid }]) => tid),
      fields: FIELDS,
      columns: FIELDS.map((field) => Float64Array.from(rows, ([, row]) => row[field] ?? 0)),
      start_ns: key ? Float64Array.from(rows, ([{ start_s }]) => 1e9 * start_s) : null,
      names: key ? rows.map(([{ name }]) => name) : null,
    };
  }
}

/** A thread that repeats some stays until a moment: [state, seconds], … */
export function cycle(
  thread: Omit<LedgerThread, "stays">,
  turns: readonly (readonly [StateId, number])[],
  until_s: number,
): LedgerThread {
  const stays: Stay[] = [];
  let t_s = Math.max(0, thread.start_s);
  while (t_s < until_s) {
    for (const [state, seconds] of turns) {
      stays.push([t_s, state]);
      t_s += seconds;
    }
  }
  return { ...thread, stays };
}

/** Activity of a thread per second. */
interface Work {
  readonly name: string;
  readonly perSecond: Counters;
}

const IDLE: Counters = {
  cpu_run_ns: 0,
  cpu_delay_ns: 0,
  voluntary_switches: 0,
  involuntary_switches: 0,
  disk_read_bytes: 0,
  disk_write_bytes: 0,
  major_faults: 0,
};

function named(name: string, count: number, perSecond: Counters): Work[] {
  return Array.from({ length: count }, (_, k) => ({ name: `${name}-${k + 1}`, perSecond }));
}

const THREADS: readonly Work[] = [
  { name: "steady_work", perSecond: {} },
  { name: "burner", perSecond: { cpu_run_ns: 5e8, cpu_delay_ns: 1e8, voluntary_switches: 100 } },
  { name: "writer", perSecond: { cpu_run_ns: 1e7, disk_write_bytes: 1.25 * 2 ** 20 } },
  ...named("worker", 6, { cpu_run_ns: 2e7, involuntary_switches: 10 }),
  ...named("sleeper", 4, { voluntary_switches: 1 }),
];

/** Rows at an instant. Thread IDs count from 1; attach is one second after the process started. */
export function steadyWork(t_s: number, key = false): Row[] {
  return THREADS.map(({ name, perSecond }, place) => {
    const rates = { ...IDLE, ...perSecond };
    const counters = Object.fromEntries(
      Object.entries(rates).map(([field, rate]) => [field, Math.round(rate * (1 + t_s))]),
    );
    const tid = place + 1;
    return key ? { tid, start_s: -1, name, counters } : { tid, counters };
  });
}
