/**
 * Where the time of a thread went: its wall time cut into parts that do not overlap and add up.
 *
 * What the kernel gives is of two kinds (docs/measurement.md, "Where the time goes", has the sources):
 *
 * - States of the scheduler. A thread is on a CPU, waits in a run queue, sleeps for block I/O, has its
 *   CPU taken by an interrupt, or is in none of these; never in two at once.
 * - Stretches of code: swap-in, thrashing, reclaim, compaction, copying. They are wall time between
 *   two lines of the kernel's source, whatever the state within, and lie within one another. So their
 *   time is taken out of the state in which such code mostly is.
 *
 * Pure; all times in seconds.
 */

import { cellStateName, PARKED, STATES, type StateId, type ThreadState } from "./states";

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

/** Names of parts, as legends and texts give them. */
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

/** Growth of counters over some time; NaN = not available. */
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

/** Parts of a wall time, and by how much the counters were above it. */
export interface Breakdown {
  /** NaN: not available. What is known adds up to the wall time. */
  readonly parts: Record<Part, number>;
  /** States added up to so much more than the wall time: the sampling error. */
  readonly over_s: number;
}

type State = "cpu" | "queue" | "blkio" | "rest";

/** The states that stretches of code are taken out of, in this order. */
const HOMES = {
  // Zeroing, scanning, moving and copying pages is work of the CPU; reclaim may wait for a disk.
  work: ["cpu", "blkio", "queue", "rest"],
  // Reading a page back: a sleep for block I/O, or work of the CPU where swap is compressed memory.
  swapin: ["blkio", "cpu", "queue", "rest"],
  // Waiting for a page that someone reads: a sleep for block I/O, and the way back to a CPU.
  thrashing: ["blkio", "queue", "rest", "cpu"],
  // Before Linux 5.17 waits for swapped pages were taken out of the block I/O delay.
  oldSwapin: ["rest", "blkio", "cpu", "queue"],
} as const satisfies Record<string, readonly State[]>;

/** Nothing yet; delays are there or not. */
export function noTimes(delays: boolean): RawTimes {
  const none = delays ? 0 : Number.NaN;
  return {
    ...{ wall: 0, cpu: 0, queue: 0, blkio: none, swapin: none, thrashing: none },
    ...{ reclaim: none, compact: none, copy: none, irq: none },
  };
}

/**
 * Cut a wall time into parts.
 *
 * @param raw Growth of the counters; without `blkio` there is no telling apart within the rest.
 * @param swapinSleeps Whether waits for swapped pages are missing from `blkio` (before Linux 5.17).
 */
export function split(raw: RawTimes, swapinSleeps = false): Breakdown {
  const delays = !Number.isNaN(raw.blkio);
  const sum = raw.cpu + raw.queue + known(raw.blkio) + known(raw.irq);
  const over_s = Math.max(0, sum - raw.wall);
  // Linux 6.12 and newer may count a wait for block I/O with what was before it: it gives way first.
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
  // A page that is read back and was evicted a moment ago counts as both for a while.
  const waiting = Math.max(0, known(raw.thrashing) - reading);
  // Copying allocates, so reclaim and compaction may lie within it: the greater is certain.
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

/** Sum of two; NaN only where both are. */
export function added(a: Breakdown["parts"], b: Breakdown["parts"]): Breakdown["parts"] {
  const sum = { ...a };
  for (const part of PARTS) {
    if (!Number.isNaN(b[part])) sum[part] = known(a[part]) + b[part];
  }
  return sum;
}

/** Growth of one thread's counters, column by column; null where a counter did not move. */
export type Growth = (counter: Exclude<keyof RawTimes, "wall">) => Float64Array | null;

/**
 * The kernel counts a wait when it ends. So one that began columns ago comes all at once, and more
 * than fits into the column it ended in: what is above the wall time began before. Moves it there;
 * what is above that of the first column was before it, and goes.
 *
 * @param wall Float64[columns]: how long the thread lived within each.
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
        // What lies within these sleeps goes with them.
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

/** `parked`: what of the waits for locks was for work, by the locks' kind. */
export type TimePart = Part | StateId | "parked";

/** A part that is a state, or one of its kinds. */
export type StatePart = StateId | "parked";

/** From the bottom of the stack up: work first, then what waits for work by its nature. */
export const STATE_PARTS: readonly StatePart[] = [
  "on_cpu",
  "preempted",
  "woken",
  "futex",
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

/** All, from the bottom of the stack up; of one kind or the other, and the rest on top. */
export const TIME_PARTS: readonly TimePart[] = [
  ...PARTS.filter((part) => part !== "unsplit" && part !== "rest"),
  ...STATE_PARTS,
  "unsplit",
  "rest",
];

const BY_ID = new Map<string, ThreadState>(STATES.map((state) => [state.id, state]));

/** The state that a part is; undefined: it is none, or a kind of one. */
export function stateOf(part: TimePart): ThreadState | undefined {
  return BY_ID.get(part);
}

/** Whether a part is a state, or a kind of one. */
export function isStatePart(part: TimePart): part is StatePart {
  return part === "parked" || BY_ID.has(part);
}

/** Whether threads wait there for work by their nature. */
export function isIdle(part: TimePart): boolean {
  return part === "parked" || (BY_ID.get(part)?.idle ?? false);
}

/** Name of a part, as legends and texts give it. */
export function partName(part: TimePart): string {
  if (part === "parked") return cellStateName(PARKED);
  return BY_ID.get(part)?.name ?? PART_NAMES[part as Part];
}

/** Parts that are not there. */
export const NO_PARTS: Readonly<Record<TimePart, number>> = Object.fromEntries(
  TIME_PARTS.map((part) => [part, Number.NaN]),
) as Record<TimePart, number>;
