/** The frame tables of a target, with their past. docs/protocol.md describes each table. */

import { FactTable, type TableRows } from "./factTable";

const MIB = 2 ** 20;

/** Column indices by table, for `key`, `fact` and `grown` of a FactTable. */
export const STAYS = { tid: 0, state: 1, bucket: 2, count: 0 } as const;
export const WAKES = {
  ...{ waker_tid: 0, waker_pid: 1, wakee_tid: 2, party: 3 },
  ...{ count: 0, blocked_ns: 1, delay_ns: 2 },
  ...{ waker_name: 0, waker_kernel: 1 },
} as const;
export const LOCKS = { lock: 0, tid: 1, wait_ns: 0, waits: 1, wakes: 2 } as const;
export const HOLDERS = { tid: 0, lock: 1, since_ns: 0, holder: 0 } as const;
export const LOCK_NAMES = {
  lock: 0,
  ...{ name: 0, kind: 1, source: 2, symbol_file: 3, address: 4 },
} as const;
export const TAKERS = { tid: 0, pid: 1, kernel: 2, party: 3, ns: 0, name: 0 } as const;
export const PARTIES = {
  party: 0,
  ...{ pid: 0, start_ticks: 1, many: 2, name: 3, title: 4, container: 5, unit: 6, cgroup: 7 },
} as const;
export const CALLS = { tid: 0, call: 1, count: 0, ns: 1, name: 0 } as const;
export const GOROUTINES = { stack: 0, goroutine_ns: 0, covered_ns: 1, count: 0 } as const;
export const GOROUTINE_STACKS = {
  stack: 0,
  ...{ pid: 0, reason: 1, function: 2, file: 3, line: 4, frames: 5 },
} as const;
export const CALL_STAYS = { tid: 0, call: 1, bucket: 2, count: 0 } as const;

export const ACCEPT_QUEUES = {
  ...{ socket: 0, pid: 1 },
  ...{ waiting_ns: 0, some_ns: 1, covered_ns: 2 },
  ...{ waiting: 0, address: 1 },
} as const;
export const PEERS = {
  peer: 0,
  ...{ full_ns: 0, covered_ns: 1 },
  ...{ pid: 0, peer_pid: 1, opened: 2, full: 3, unsent: 4, address: 5, name: 6 },
} as const;
export const FILE_LOCKS = {
  ...{ file: 0, pid: 1 },
  ...{ held_ns: 0, waiting_ns: 1, covered_ns: 2 },
  path: 0,
} as const;
export const DEVICES = {
  device: 0,
  ...{ busy_ns: 0, queue_ns: 1, received_bytes: 2, sent_bytes: 3 },
  ...{ kind: 0, name: 1, speed: 2 },
} as const;

const NAMES = [
  "stays",
  "wakes",
  "locks",
  "holders",
  "lock_names",
  "takers",
  "parties",
  "calls",
  "call_stays",
  "goroutines",
  "goroutine_stacks",
  "accept_queues",
  "peers",
  "file_locks",
  "devices",
] as const;
type FactName = (typeof NAMES)[number];

/** A table's entry in the header. */
interface Described {
  readonly name: string;
  readonly omitted?: number;
  /** Time at which its rows were read, in nanoseconds since attach; null if unknown. */
  readonly read_ns?: number | null;
}

/**
 * Number of recent readings whose longest interval counts, and number of such intervals without a
 * change after which values count as unchanged.
 */
const STEPS = 8;
const QUIET_STEPS = 2;

const NO_ROWS: TableRows = { rows: 0, columns: {} };

export class Facts {
  readonly stays: FactTable;
  readonly wakes: FactTable;
  readonly locks: FactTable;
  readonly holders: FactTable;
  readonly lock_names: FactTable;
  readonly takers: FactTable;
  readonly parties: FactTable;
  readonly calls: FactTable;
  readonly call_stays: FactTable;
  readonly goroutines: FactTable;
  readonly goroutine_stacks: FactTable;
  readonly accept_queues: FactTable;
  readonly peers: FactTable;
  readonly file_locks: FactTable;
  readonly devices: FactTable;
  /** Incremented with each instant. */
  edition = 0;
  private t_s = Number.NaN;
  /** Intervals between the last readings: a busy collector reads less often. */
  private steps_s: readonly number[] = [];

  /** @param maxAge_s Retention of the past. */
  constructor(maxAge_s: number) {
    const table = (keys: string[], values: string[], facts: string[], mib: number): FactTable =>
      new FactTable({ keys, values, facts, maxBytes: mib * MIB }, maxAge_s);
    this.stays = table(["tid", "state", "bucket"], ["count"], [], 16);
    this.wakes = table(
      ["waker_tid", "waker_pid", "wakee_tid", "party"],
      ["count", "blocked_ns", "delay_ns"],
      ["waker_name", "waker_kernel"],
      16,
    );
    this.locks = table(["lock", "tid"], ["wait_ns", "waits", "wakes"], [], 12);
    this.holders = table(["tid", "lock"], ["since_ns"], ["holder"], 1);
    this.lock_names = table(["lock"], [], ["name", "kind", "source", "symbol_file", "address"], 1);
    this.takers = table(["tid", "pid", "kernel", "party"], ["ns"], ["name"], 8);
    this.parties = table(
      ["party"],
      [],
      ["pid", "start_ticks", "many", "name", "title", "container", "unit", "cgroup"],
      1,
    );
    this.calls = table(["tid", "call"], ["count", "ns"], ["name"], 12);
    this.call_stays = table(["tid", "call", "bucket"], ["count"], [], 12);
    this.goroutines = table(["stack"], ["goroutine_ns", "covered_ns"], ["count"], 4);
    this.goroutine_stacks = table(
      ["stack"],
      [],
      ["pid", "reason", "function", "file", "line", "frames"],
      1,
    );
    this.accept_queues = table(
      ["socket", "pid"],
      ["waiting_ns", "some_ns", "covered_ns"],
      ["waiting", "address"],
      2,
    );
    this.peers = table(
      ["peer"],
      ["full_ns", "covered_ns"],
      ["pid", "peer_pid", "opened", "full", "unsent", "address", "name"],
      1,
    );
    this.file_locks = table(["file", "pid"], ["held_ns", "waiting_ns", "covered_ns"], ["path"], 2);
    this.devices = table(
      ["device"],
      ["busy_ns", "queue_ns", "received_bytes", "sent_bytes"],
      ["kind", "name", "speed"],
      1,
    );
  }

  /** Whether any table has rows. */
  get some(): boolean {
    return this.edition > 0;
  }

  /** Memory of the past, in bytes. */
  get bytes(): number {
    return this.all.reduce((sum, table) => sum + table.bytes, 0);
  }

  /**
   * Set the tables of a frame.
   * @param described Table entries of its header; null for none.
   * @param frame_s Time of the frame; used as reading time if the header has none.
   * @param whole True if the tables have all rows, as in a key frame.
   */
  take(
    described: readonly Described[] | null,
    tables: Readonly<Partial<Record<FactName, TableRows>>>,
    frame_s: number,
    whole: boolean,
  ): void {
    // Coalesced frames may have tables of several readings: all are correct as of the last one.
    const read_ns = Math.max(...(described ?? []).map((each) => each.read_ns ?? Number.NaN));
    const t_s = read_ns > 0 ? read_ns / 1e9 : frame_s;
    const none = NAMES.every((name) => tables[name] === undefined);
    // Nothing changed in between; a key frame without tables means that all rows are gone.
    if ((none && !(whole && this.some)) || t_s <= this.t_s) return;
    // A key frame repeats the last reading. It is an instant only if a value is new.
    const changed = NAMES.some((name) => this[name].differs(tables[name] ?? NO_ROWS, whole));
    if (!changed && this.some) return;
    this.begin(t_s);
    for (const name of NAMES) {
      const rows = tables[name];
      const { omitted = 0 } = described?.find((each) => each.name === name) ?? {};
      if (rows) this[name].take(rows, omitted, t_s, whole);
      else if (whole) this[name].take(NO_ROWS, 0, t_s, true);
    }
  }

  private begin(t_s: number): void {
    if (this.some) {
      this.steps_s = [...this.steps_s.slice(1 - STEPS), t_s - this.t_s];
    }
    this.t_s = t_s;
    this.edition++;
    const quiet_s = QUIET_STEPS * Math.max(1, ...this.steps_s);
    for (const table of this.all) table.begin(t_s, quiet_s);
  }

  /**
   * Start a new past with the last reading. A key frame's reading may be older than the frame, so
   * the retained past begins with the next reading.
   */
  resume(): void {
    this.steps_s = [];
    for (const table of this.all) table.forgetPast();
  }

  private get all(): readonly FactTable[] {
    return NAMES.map((name) => this[name]);
  }
}
