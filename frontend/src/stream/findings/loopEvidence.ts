/** Threads that poll: their long stretches on a CPU, and times in which they serve nobody. */

import type { RingField } from "../chartSpecs";
import type { ViewInput } from "../chartView";
import { ACCEPT_QUEUES, STAYS } from "../facts/facts";
import { mainThreads } from "../facts/mainThreads";
import { lowerOf, upperOf } from "../facts/stayHistogram";
import { growthWithin } from "../parked";
import { readThread, ringOf } from "../series";
import { STATES, type StateId } from "../states";
import type { TargetModel } from "../targetModel";
import { type WakePartner, wakePartners } from "../wakes";
import { type EventLoop, inStates, type ThreadTimes } from "./finding";

/** A stay on a CPU that does little, in seconds: the upper end of a bucket. */
const SHORT_S = 2 ** 15 / 1e9;
/** A stretch on a CPU that is long for an event loop, in seconds: others notice. */
const LONG_S = 0.03;

/** A wait in a call that is long for an event loop, in seconds: the lower end of a bucket. */
const HELD_S = 2 ** 25 / 1e9;
/** States in which an event loop is held up; waits at futexes may be for work, as of a pool. */
const HELD_IN: ReadonlySet<StateId | undefined> = new Set<StateId>([
  ...(["sleep", "socket_receive", "socket_send", "socket_connect", "pipe"] as const),
  ...(["file_read", "file_read_disk", "file_write", "file_write_disk"] as const),
  ...(["file_sync", "file_sync_disk", "other_call"] as const),
]);

/** Numbers of a thread's stays, and seconds in long ones on a CPU, at least. */
export interface Stays {
  polls: number;
  runs: number;
  short_runs: number;
  long: number;
  long_s: number;
  /** Long waits in calls: their number and seconds, and those of each state. */
  held: number;
  held_s: number;
  held_in: StateId | null;
  most_held_s: number;
  /** Long waits at futexes: their number, and seconds at least. */
  parked: number;
  parked_s: number;
}

const NO_STAYS: Stays = {
  ...{ polls: 0, runs: 0, short_runs: 0, long: 0, long_s: 0 },
  ...{ held: 0, held_s: 0, held_in: null, most_held_s: 0, parked: 0, parked_s: 0 },
};

/** Stays of threads within the window, by tid. */
export function staysByTid({ model, span, now_s }: ViewInput): ReadonlyMap<number, Stays> {
  const { stays } = model.facts;
  const window = stays.window(span.t0_s, Math.min(span.t1_s, now_s));
  const all = new Map<number, Stays>();
  for (const slot of stays.all()) {
    const state = STATES[stays.key(slot, STAYS.state) - 1]?.id;
    const held = HELD_IN.has(state);
    const parked = state === "futex";
    if (state !== "poll" && state !== "on_cpu" && !held && !parked) continue;
    const bucket = stays.key(slot, STAYS.bucket);
    const least_s = lowerOf(bucket);
    if ((held || parked) && least_s < HELD_S) continue;
    const count = stays.grown(window, slot, STAYS.count);
    if (count === 0) continue;
    const tid = stays.key(slot, STAYS.tid);
    let sums = all.get(tid);
    if (!sums) {
      sums = { ...NO_STAYS };
      all.set(tid, sums);
    }
    if (state === "poll") {
      sums.polls += count;
      continue;
    }
    if (parked) {
      sums.parked += count;
      sums.parked_s += count * least_s;
      continue;
    }
    if (held) {
      sums.held += count;
      sums.held_s += count * least_s;
      if (count * least_s > sums.most_held_s) {
        sums.most_held_s = count * least_s;
        sums.held_in = state ?? null;
      }
      continue;
    }
    sums.runs += count;
    if (upperOf(bucket) <= SHORT_S) sums.short_runs += count;
    if (least_s >= LONG_S) {
      sums.long += count;
      sums.long_s += count * least_s;
    }
  }
  return all;
}

/** Threads that poll, with their long stretches on a CPU. */
export function eventLoops(
  input: ViewInput,
  threads: readonly ThreadTimes[],
  stays: ReadonlyMap<number, Stays>,
): readonly EventLoop[] {
  const { model, span, now_s } = input;
  const t0_s = Math.max(span.t0_s, model.since_s);
  const t1_s = Math.min(span.t1_s, now_s);
  const callsOf = ({ tid }: ThreadTimes): number => {
    const thread = model.threads.byTid.get(tid);
    if (!thread) return 0;
    const grown = (field: RingField) => growthWithin(model, thread, field, t0_s, t1_s) || 0;
    return grown("net_read_calls") + grown("net_write_calls");
  };
  const mains = new Set([...mainThreads(model)].map(({ tid }) => tid));
  const listening = listeningPids(model);
  const ofRole = new Map<string, number>();
  for (const { role } of threads) ofRole.set(role, (ofRole.get(role) ?? 0) + 1);
  const [onlyPid = 0] = listening.size === 1 ? listening : [];
  const pidOf = ({ tid }: ThreadTimes) => model.threads.byTid.get(tid)?.process?.pid;
  return threads.flatMap((thread) => {
    if (inStates(thread, "poll") === 0) return [];
    const own = stays.get(thread.tid) ?? NO_STAYS;
    const { polls, long, long_s } = own;
    const calls = callsOf(thread);
    // Reading a series costs more than the sums: idle threads have no stalls.
    const busy = thread.cpu >= BUSY * thread.wall;
    const stalled = busy ? stalls(model, thread, t0_s, t1_s) : NO_STALLS;
    const main = mains.has(thread.tid);
    const serves = listening.has(pidOf(thread) ?? (main ? thread.tid : onlyPid));
    const sleeps =
      serves &&
      !main &&
      // Wakers of a thread are found by a walk through all wake-ups.
      own.parked > 0 &&
      sleepsAtFutexes(own, wakePartners(input, thread.tid, "wakers"), {
        seconds: t1_s - t0_s,
        polling_s: inStates(thread, "poll"),
        alone: ofRole.get(thread.role) === 1,
      });
    const { held, held_s, held_in } = sleeps
      ? ({ held: own.parked, held_s: own.parked_s, held_in: "futex" } as const)
      : own;
    const listens = serves && (main || sleeps);
    return [{ thread, polls, calls, long, long_s, held, held_s, held_in, listens, ...stalled }];
  });
}

/** Share of long waits at futexes that threads may end, for timers to have ended the others. */
const BY_THREADS = 0.2;
/** Share by which sums of the ledger and of wake-ups may differ, of different times of reading. */
const READ_APART = 0.1;

/**
 * Whether timers end a thread's long waits at futexes: so a JVM's thread sleeps. Others that wake it
 * then end its polls; who waits for work is woken for each piece.
 */
export function sleepsAtFutexes(
  { parked, parked_s }: Pick<Stays, "parked" | "parked_s">,
  wakers: readonly Pick<WakePartner, "kind" | "per_s" | "blocked">[],
  of: {
    readonly seconds: number;
    /** Seconds in polls. */
    readonly polling_s: number;
    /** Whether no other thread has its role. */
    readonly alone: boolean;
  },
): boolean {
  if (parked === 0) return false;
  let [threads, ended_s, timers_s] = [0, 0, 0];
  for (const { kind, per_s, blocked } of wakers) {
    if (kind === "interrupt") {
      timers_s += blocked * of.seconds;
      continue;
    }
    threads += per_s * of.seconds;
    ended_s += blocked * of.seconds;
  }
  const apart_s = READ_APART * (of.polling_s + parked_s);
  const fits = timers_s >= parked_s - apart_s && ended_s <= of.polling_s + apart_s;
  return fits && (of.alone || threads <= BY_THREADS * parked);
}

/** Processes of the target that have a listening socket open. */
function listeningPids({ facts: { accept_queues } }: TargetModel): ReadonlySet<number> {
  const pids = new Set<number>();
  for (const slot of accept_queues.all()) {
    if (accept_queues.isThere(slot)) pids.add(accept_queues.key(slot, ACCEPT_QUEUES.pid));
  }
  return pids;
}

/** Minimum CPU time in which calls are judged, in seconds; on a busy CPU several samples have it. */
const JUDGED_S = 0.01;
/** Share of pieces with fewer calls for their CPU time than is typical: most may be of stalls. */
const TYPICAL = 0.9;
/** Share of the typical number of calls for its CPU time, below which a piece is one of a stall. */
const STALLED = 0.4;

/** Share of the time on a CPU, below which a thread has no stalls. */
const BUSY = 0.03;
const NO_STALLS: Stalls = { stalls: 0, stalled_s: 0, serves_per_s: 0 };

type Stalls = Pick<EventLoop, "stalls" | "stalled_s" | "serves_per_s">;

/** Times in which a thread is on a CPU and waits, or calls sockets, far less often than typical. */
function stalls(model: TargetModel, { tid }: ThreadTimes, t0_s: number, t1_s: number): Stalls {
  const thread = model.threads.byTid.get(tid);
  const stretches = model.history.between(t0_s, t1_s);
  if (!thread || stretches.n < 2) return NO_STALLS;
  const [cpu_ns, waits, reads, writes] = SERIES.map((field) => {
    const values = new Float64Array(stretches.n);
    readThread(model, stretches, thread, ringOf(field), values);
    return values;
  });
  if (!cpu_ns || !waits || !reads || !writes) return NO_STALLS;
  const samples: Sample[] = [];
  for (let i = 1; i < stretches.n; i++) {
    const grown = (values: Float64Array) => (values[i] ?? Number.NaN) - (values[i - 1] ?? 0);
    const calls = grown(reads) + grown(writes) + grown(waits);
    samples.push({ cpu_s: grown(cpu_ns) / 1e9, calls });
  }
  return stallsOf(samples);
}

/** Calls of Unix sockets are not counted: there the waits between them tell. */
const SERIES = ["cpu_run_ns", "voluntary_switches", "net_read_calls", "net_write_calls"] as const;

/** CPU time of a thread from one sample to the next, and its waits and calls of sockets. */
export interface Sample {
  readonly cpu_s: number;
  readonly calls: number;
}

/**
 * Stalls in a series of samples: their number, and their CPU time without that of the calls which
 * were made. The typical number of calls is that of the samples with the most for their CPU time.
 */
export function stallsOf(samples: readonly Sample[]): Stalls {
  const pieces = piecesOf(samples);
  const rates = pieces.map(({ cpu_s, calls }) => calls / cpu_s).sort((a, b) => a - b);
  const typical = rates[Math.floor(TYPICAL * rates.length)] ?? Number.NaN;
  let [stalls, stalled_s, before] = [0, 0, false];
  for (const { cpu_s, calls } of pieces) {
    const missing = 1 - calls / cpu_s / typical;
    const stalled = missing >= 1 - STALLED;
    if (stalled) stalled_s += cpu_s * missing;
    if (stalled && !before) stalls++;
    before = stalled;
  }
  return { stalls, stalled_s, serves_per_s: typical };
}

/** Samples summed to pieces with enough CPU time to be judged. */
function piecesOf(samples: readonly Sample[]): readonly Sample[] {
  const pieces: Sample[] = [];
  let [cpu_s, calls] = [0, 0];
  for (const sample of samples) {
    // A reset counter says nothing.
    if (Number.isNaN(sample.cpu_s + sample.calls)) continue;
    cpu_s += sample.cpu_s;
    calls += sample.calls;
    if (cpu_s < JUDGED_S) continue;
    pieces.push({ cpu_s, calls });
    [cpu_s, calls] = [0, 0];
  }
  return pieces;
}
