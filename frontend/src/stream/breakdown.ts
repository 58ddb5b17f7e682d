/**
 * Time breakdown of a thread: its wall time cut into disjoint parts that add up. Kernel data is of
 * two kinds (sources: docs/measurement.md, "Where the time goes"):
 * - Scheduler states. A thread is on a CPU, in a run queue, asleep for block I/O, interrupted by an
 *   IRQ, or in no such state. Only one holds at a time.
 * - Code regions: swap-in, thrashing, reclaim, compaction, copying. A region is wall time between
 *   two points of kernel code, whatever the state within. Regions may nest. The time of a region is
 *   therefore subtracted from the state most likely inside the region.
 * Pure; all times in seconds.
 */

import {
  GROUP_NATURES,
  kindNamed,
  type Nature,
  STATES,
  type StateId,
  type StateKind,
  type ThreadState,
} from "./states";

/** Parts, from the bottom of the stack to its top. */
export const PARTS = [
  "cpu",
  "queue",
  "blkio",
  "swapin",
  "memory",
  "irq",
  "unsplit",
  "rest",
] as const;

export type Part = (typeof PARTS)[number];

/** Names of parts, as in legends and texts. */
export const PART_NAMES: Readonly<Record<Part, string>> = {
  cpu: "On CPU",
  queue: "Run-queue delay",
  blkio: "Block I/O delay",
  swapin: "Swap-in delay",
  memory: "Memory delays",
  irq: "Interrupts",
  unsplit: "Other (not measured)",
  rest: "Other",
};

/** Growth of counters over some time; NaN if unavailable. */
export interface RawTimes {
  wall: number;
  cpu: number;
  queue: number;
  blkio: number;
  swapin: number;
  thrashing: number;
  reclaim: number;
  compact: number;
  copy: number;
  irq: number;
}

/** Parts of a wall time, and the excess of the counters over the wall time. */
export interface Breakdown {
  /** Seconds per part; NaN if unavailable. Known parts add up to the wall time. */
  readonly parts: Record<Part, number>;
  /** Excess of the states' sum over the wall time: the sampling error. */
  readonly over_s: number;
}

type State = "cpu" | "queue" | "blkio" | "rest";

/** States that code regions are subtracted from, in order. */
const HOMES = {
  // Zeroing, scanning, moving and copying pages is CPU work; reclaim may wait for a disk.
  work: ["cpu", "blkio", "queue", "rest"],
  // Reading a page back: a sleep for block I/O, or CPU work if swap is compressed memory.
  swapin: ["blkio", "cpu", "queue", "rest"],
  // Waiting for a page being read: a sleep for block I/O, and the return to a CPU.
  thrashing: ["blkio", "queue", "rest", "cpu"],
  // Before Linux 5.17 the block I/O delay excluded waits for swapped pages.
  oldSwapin: ["rest", "blkio", "cpu", "queue"],
} as const satisfies Record<string, readonly State[]>;

/** Zero times; `delays` says whether delays are available. */
export function noTimes(delays: boolean): RawTimes {
  const none = delays ? 0 : Number.NaN;
  return {
    ...{ wall: 0, cpu: 0, queue: 0, blkio: none, swapin: none, thrashing: none },
    ...{ reclaim: none, compact: none, copy: none, irq: none },
  };
}

/**
 * Cut a wall time into parts.
 * @param raw Growth of the counters; without `blkio` the rest is not distinguished.
 * @param swapinSleeps Whether `blkio` excludes waits for swapped pages (before Linux 5.17).
 */
export function split(raw: RawTimes, swapinSleeps = false): Breakdown {
  const delays = !Number.isNaN(raw.blkio);
  const sum = raw.cpu + raw.queue + known(raw.blkio) + known(raw.irq);
  const over_s = Math.max(0, sum - raw.wall);
  // Linux 6.12 and newer may count the state before a block I/O wait as part of the wait: `blkio`
  // yields first.
  const blkio = Math.max(0, known(raw.blkio) - over_s);
  const others = sum - known(raw.blkio);
  const scale = others > raw.wall ? raw.wall / others : 1;
  const pools = {
    cpu: raw.cpu * scale,
    queue: raw.queue * scale,
    blkio,
    rest: Math.max(0, raw.wall - sum),
  };
  const take = (wanted: number, homes: readonly State[]): number => {
    let taken = 0;
    if (!delays) return Number.NaN;
    for (const home of homes) {
      const part = Math.min(wanted - taken, pools[home]);
      pools[home] -= part;
      taken += part;
    }
    return taken;
  };
  const reading = known(raw.swapin);
  // A page that is read back soon after its eviction counts as both for a while.
  const waiting = Math.max(0, known(raw.thrashing) - reading);
  // Copying allocates, so reclaim and compaction may nest in it: only the greater is certain.
  const work = Math.max(known(raw.copy), known(raw.reclaim) + known(raw.compact));
  const swapin = take(reading, swapinSleeps ? HOMES.oldSwapin : HOMES.swapin);
  const memory = take(waiting, HOMES.thrashing) + take(work, HOMES.work);
  return {
    parts: {
      cpu: pools.cpu,
      queue: pools.queue,
      blkio: delays ? pools.blkio : Number.NaN,
      swapin: Number.isNaN(raw.swapin) ? Number.NaN : swapin,
      memory,
      irq: raw.irq * scale,
      rest: delays ? pools.rest : 0,
      unsplit: delays ? 0 : pools.rest,
    },
    over_s,
  };
}

/** Sum of two breakdowns; NaN only if both are. */
export function added(a: Breakdown["parts"], b: Breakdown["parts"]): Breakdown["parts"] {
  const sum = { ...a };
  for (const part of PARTS) {
    if (!Number.isNaN(b[part])) sum[part] = known(a[part]) + b[part];
  }
  return sum;
}

/** Growth of one thread's counters, per column; null if a counter did not grow. */
export type Growth = (counter: Exclude<keyof RawTimes, "wall">) => Float64Array | null;

/**
 * Move waits to the columns in which they began. The kernel accounts a wait when it ends, so an
 * earlier start makes the end's column exceed its wall time. The excess moves to earlier columns;
 * the part before the first column is dropped.
 * @param wall Float64[columns]: lifetime of the thread within each.
 * @param growth Its counters; changed in place.
 */
export function settle(wall: Float64Array, growth: Growth): void {
  const cpu = growth("cpu");
  const queue = growth("queue");
  const blkio = growth("blkio");
  const irq = growth("irq");
  for (let c = wall.length - 1; c >= 0; c--) {
    const sum = (cpu?.[c] ?? 0) + (queue?.[c] ?? 0) + (blkio?.[c] ?? 0) + (irq?.[c] ?? 0);
    let over = sum - (wall[c] ?? 0);
    if (!(over > 0)) continue;
    for (const values of [blkio, queue, cpu]) {
      const value = values?.[c] ?? 0;
      const moved = Math.min(over, value);
      if (!(moved > 0) || !values) continue;
      if (values === blkio) {
        // Regions inside these sleeps move along.
        for (const within of [growth("swapin"), growth("thrashing")]) {
          if (within) move(within, c, (moved / value) * (within[c] ?? 0));
        }
      }
      move(values, c, moved);
      over -= moved;
    }
  }
}

function move(values: Float64Array, c: number, amount: number): void {
  values[c] = (values[c] ?? 0) - amount;
  if (c > 0) values[c - 1] = (values[c - 1] ?? 0) + amount;
}

function known(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}

export type TimePart = Part | StatePart;

/** A part that is a state, or a kind of state. */
export type StatePart = StateId | StateKind;

/** State parts from the bottom of the stack up: work first, later waits for work. */
export const STATE_PARTS: readonly StatePart[] = [
  "on_cpu",
  "preempted",
  "woken",
  "throttled",
  "futex",
  "held",
  "file_read",
  "file_read_disk",
  "file_write",
  "file_write_disk",
  "file_sync",
  "file_sync_disk",
  "page_fault_disk",
  "page_fault",
  "socket_receive",
  "socket_send",
  "socket_connect",
  "pipe",
  "io_uring",
  "other_call",
  "other",
  "stopped",
  "child",
  "socket_accept",
  "parked",
  "poll",
  "sleep",
];

/** All parts from the bottom of the stack up, of either kind, with the rest on top. */
export const TIME_PARTS: readonly TimePart[] = [
  ...PARTS.filter((part) => part !== "unsplit" && part !== "rest"),
  ...STATE_PARTS,
  "unsplit",
  "rest",
];

const BY_ID = new Map<string, ThreadState>(STATES.map((state) => [state.id, state]));

/** The state of a part; undefined if the part is no state, or only a kind of one. */
export function stateOf(part: TimePart): ThreadState | undefined {
  return BY_ID.get(part);
}

/** Whether a part is a state, or a kind of state. */
export function isStatePart(part: TimePart): part is StatePart {
  return kindNamed(part) !== undefined || BY_ID.has(part);
}

/** Whether threads in this part wait for work by nature. */
export function isIdle(part: TimePart): boolean {
  return part === "parked" || (BY_ID.get(part)?.idle ?? false);
}

/** Whether somebody is in the way of threads in this part. */
export function natureOf(part: TimePart): Nature {
  const state = BY_ID.get(part);
  if (state) return state.idle ? "idle" : GROUP_NATURES[state.group];
  const kind = kindNamed(part);
  if (kind) return GROUP_NATURES[kind.group];
  return NATURES[part as Part] ?? "unknown";
}

const NATURES: Readonly<Partial<Record<Part, Nature>>> = {
  cpu: "running",
  irq: "running",
  queue: "runnable",
  blkio: "blocked",
  swapin: "blocked",
  memory: "blocked",
};

/** Name of a part, as in legends and texts. */
export function partName(part: TimePart): string {
  return kindNamed(part)?.name ?? BY_ID.get(part)?.name ?? PART_NAMES[part as Part];
}

/** Empty parts. */
export const NO_PARTS: Readonly<Record<TimePart, number>> = Object.fromEntries(
  TIME_PARTS.map((part) => [part, Number.NaN]),
) as Record<TimePart, number>;
