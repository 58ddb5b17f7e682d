/**
 * The page's knowledge of one target: threads, latest counters, recent past, events, losses. Frames
 * are ingested; views are computed from it (viewBuilder.ts). Pure: no I/O, no clock.
 */

import type { Frame } from "../wire/frame";
import type {
  CollectorHealth,
  CountersSource,
  FramesLost,
  GomaxprocsChanged,
  GroupCounts,
  ThreadExited,
  ThreadRenamed,
} from "../wire/generated/models";
import { RING_FIELDS } from "./chartSpecs";
import { CounterTable } from "./counterTable";
import { RateBase } from "./currentRates";
import { EventLog, isChange, LossLog } from "./eventLog";
import { Facts } from "./facts/facts";
import { GaugeLog, SizeLog } from "./gaugeLog";
import { History } from "./history";
import { InexactValues, Reconciliation } from "./inexact";
import { Levels } from "./levels";
import { CgroupLog, MachineLog } from "./machineLog";
import { PoolLog } from "./poolLog";
import { ProcessTable, ProgramSizes } from "./processTable";
import { Arrivals } from "./rate";
import type { RateExtremes } from "./rateExtremes";
import { StateLog } from "./stateLog";
import { isLedgerField } from "./states";
import { ProgramSteerLogs, SteerLog } from "./steerLog";
import { sameStart, type Thread, Threads } from "./threads";

/** Approximate length of a block of instants, in seconds. */
const BLOCK_S = 6.4;
export class TargetModel {
  readonly threads: Threads;
  readonly counters: CounterTable;
  readonly history: History;
  /** Sums by role, and by process of a group. */
  readonly levels: Levels;
  /** Processes of a group, from frames. */
  readonly processes = new ProcessTable();
  readonly programSizes: ProgramSizes;
  /** Ledgers of the threads. */
  readonly states: StateLog;
  readonly events = new EventLog();
  /** Received, coalesced and lost frames. */
  readonly losses = new LossLog(this.events);
  /** GOMAXPROCS and the number of live threads, over time. */
  readonly sizes: SizeLog;
  readonly liveCounts: GaugeLog;
  /** Energy and CPU time of the machine. */
  readonly machine: MachineLog;
  /** Delay accounting: 1 if on, 0 if off, NaN if unknown. */
  readonly accounting: GaugeLog;
  /** CPU limit of its control group. */
  readonly cgroup: CgroupLog;
  /** Frame tables, such as wake-ups and locks. */
  readonly facts: Facts;
  readonly pools: PoolLog;
  /** Inexact values of threads in otherwise exact fields. */
  readonly inexactValues = new InexactValues();
  /** Steering policies and decisions. */
  readonly steer = new SteerLog();
  /** Steering of each program of a group. */
  readonly programSteer = new ProgramSteerLogs();
  /** Comparison of the process' CPU with its threads'. */
  readonly reconciliation = new Reconciliation();

  /** Times of samples received lately, coalesced ones excluded. */
  readonly arrivals = new Arrivals();
  rateBase = new RateBase();
  /** Extremes of rates between the instants of a coarsely shown run; null otherwise. */
  extremes: RateExtremes | null = null;

  seq = 0;
  /** Time of the first frame: the baseline of sums, normally the attach. */
  first_s = Number.NaN;
  /** First instant of the retained past; later than `first_s` if earlier instants are missing. */
  since_s = Number.NaN;
  now_s = Number.NaN;
  /** The instant before `since_s`; equal at the baseline. */
  before_s = Number.NaN;
  unix_ms = 0;
  live = 0;
  /** Threads born and threads exited since attach. */
  born = 0;
  exited = 0;
  /** Number of exited threads without an exit record. */
  inexact = 0;
  rss_bytes: number | null = null;
  gomaxprocs: number | null = null;
  health: CollectorHealth | null = null;
  counters_from: CountersSource | null = null;
  /** Number of current and past processes of a group; null for a single-process target. */
  group: GroupCounts | null = null;
  ended: "exited" | "detached" | null = null;
  exit_code: number | null = null;

  /** The newest frame is the baseline. */
  private atBaseline = false;
  /** Threads missing in the last key frame, by tid: their exits may still be reported. */
  private readonly unrecorded = new Map<number, Thread>();

  /**
   * @param history Store of the past; the default evicts instants older than ten minutes.
   * @param roles Numbers of roles, shared by models of one run so that colours stay.
   */
  constructor(history?: History, roles?: Map<string, number>) {
    this.history = history ?? new History(RING_FIELDS.length, 1);
    const { maxAge_s } = this.history;
    this.sizes = new SizeLog(maxAge_s);
    this.programSizes = new ProgramSizes(maxAge_s);
    this.liveCounts = new GaugeLog(maxAge_s);
    this.machine = new MachineLog(maxAge_s);
    this.accounting = new GaugeLog(maxAge_s);
    this.cgroup = new CgroupLog(maxAge_s);
    this.facts = new Facts(maxAge_s);
    this.pools = new PoolLog(maxAge_s);
    this.counters = new CounterTable(this.history);
    this.states = new StateLog(maxAge_s);
    this.threads = new Threads(roles);
    this.levels = new Levels(this.threads, this.counters, () => this.history.blockId);
  }

  /**
   * Ingest a frame.
   * @returns False if the frame is outdated (a replay overlaps) and was ignored.
   */
  ingest(frame: Frame): boolean {
    const { header } = frame;
    const t_s = header.time_ns / 1e9;
    if (header.seq <= this.seq || t_s < this.now_s) return false;
    if (this.seq === 0 && header.kind === "delta") return false; // a delta needs a key frame
    const initial = this.seq === 0;
    // A late subscriber gets the baseline first; frames between it and the retained ones are not
    // lost.
    const skipped = this.atBaseline && header.kind === "key" && header.first_seq > this.seq + 1;
    this.atBaseline = header.baseline;
    if (initial) {
      this.first_s = t_s;
      this.since_s = t_s;
      const counters = frame.fields.filter((field) => !isLedgerField(field));
      this.counters.start(counters, t_s);
    }
    this.counters_from = header.counters_from ?? this.counters_from;
    this.losses.frames++;
    this.losses.coalesced += header.seq - header.first_seq;
    this.states.placesOf(frame.fields);
    if (skipped) {
      this.counters.forgetPast();
      this.states.forgetPast();
    } else this.losses.countMissing(this, header, t_s);
    // Many exits are split into frames of one instant: later ones continue the first.
    const continued = !initial && !skipped && t_s === this.now_s;
    this.seq = header.seq;
    if (!continued) this.before_s = initial || skipped ? t_s : this.now_s;
    this.now_s = t_s;
    this.unix_ms = header.unix_us / 1000;
    if (!continued) {
      this.arrivals.note(t_s);
      this.counters.begin(t_s, BLOCK_S * (this.arrivals.hz || 10));
      this.states.begin(t_s, header.live_threads);
    }
    this.applyEvents(frame, initial);
    if (frame.start_ns && frame.names) this.applyIdentities(frame, frame.start_ns, frame.names);
    this.applyRows(frame);
    const { processes } = frame.tables;
    if (processes) {
      const described = header.tables?.find(({ name }) => name === "processes");
      this.processes.take(processes, described?.omitted ?? 0, header.kind === "key");
      this.levels.describe(this.processes.rows.values());
      this.programSizes.take(processes, header.kind === "key", t_s);
    }
    const { pools, pool_times } = frame.tables;
    const { omitted = 0 } = header.tables?.find(({ name }) => name === "pools") ?? {};
    this.pools.take(pools, pool_times, omitted, header.kind === "key");
    if (pools || processes) this.pools.nameProcesses(this.processes.rows);
    this.inexactValues.take(frame.tables.inexact, header.kind === "key");
    this.facts.take(header.tables ?? null, frame.tables, t_s, header.kind === "key");
    this.cgroup.note(t_s, header.process);
    this.counters.sumUp(header.exited.totals);
    this.born = header.threads_born;
    this.exited = header.exited.threads;
    this.inexact = header.exited.inexact;
    this.live = header.live_threads;
    this.group = header.group ?? null;
    this.health = header.health;
    this.rss_bytes = header.process.rss_bytes;
    this.gomaxprocs = header.process.gomaxprocs;
    this.machine.note(header.machine);
    this.sizes.noteRead(t_s, header.process);
    this.liveCounts.note(t_s, this.live);
    const { cpu_ns, delay_accounting } = header.process;
    this.accounting.note(t_s, delay_accounting == null ? Number.NaN : Number(delay_accounting));
    const { latest } = this.counters;
    const threads_ns = latest[this.counters.columnOf("cpu_run_ns")] ?? Number.NaN;
    this.reconciliation.note(cpu_ns ?? null, threads_ns);
    this.rateBase.note(t_s, latest);
    if (skipped) this.resume();
    return true;
  }

  /** Record a loss announced by the backend; frame numbers may have revealed it already. */
  noteLost(lost: FramesLost): void {
    if (this.seq > 0) this.losses.announce(this, lost);
  }

  /**
   * Ingest a frame without its counters: events, steering, gauges. Used for an invisible time whose
   * policy or size is still in effect later.
   */
  recall({ header }: Frame): void {
    const t_s = header.time_ns / 1e9;
    for (const event of header.events) {
      if (!this.programSteer.note(t_s, event)) this.steer.note(t_s, event);
      if (isChange(event, false)) this.events.add(t_s, event);
    }
    this.machine.note(header.machine);
    this.sizes.noteRead(t_s, header.process);
    this.liveCounts.note(t_s, header.live_threads);
  }

  /**
   * Start the visible range at the last frame: rates do not reach further back, and threads that
   * ended before are not listed.
   */
  resume(): void {
    this.since_s = this.now_s;
    this.facts.resume();
    this.pools.resume();
    this.levels.forgetEnded();
    this.threads.forgetEnded();
    this.unrecorded.clear();
    this.rateBase = new RateBase();
    this.rateBase.note(this.now_s, this.counters.latest);
    this.arrivals.restart(this.now_s);
  }

  private applyEvents(frame: Frame, initial: boolean): void {
    const t_s = this.now_s;
    for (const event of frame.header.events) {
      switch (event.type) {
        case "thread_born":
          if (!this.threads.find(event.tid, event.start_ns)) {
            this.bear(event.tid, event.start_ns, event.name, event.pid ?? null);
          }
          break;
        case "thread_renamed":
          this.rename(event);
          break;
        case "thread_exited":
          this.applyExit(event);
          break;
        case "target_exited":
          this.ended = "exited";
          this.exit_code = event.exit_code;
          break;
        case "target_detached":
          this.ended = "detached";
          break;
        case "gomaxprocs_changed":
          this.noteSize(event);
          break;
        case "rate_changed":
        case "rate_adapted":
          this.arrivals.restart(t_s);
          break;
        default:
          break;
      }
      if (!this.programSteer.note(t_s, event)) this.steer.note(t_s, event);
      if (isChange(event, initial)) this.events.add(t_s, event);
    }
  }

  /** Record GOMAXPROCS of one of several processes. */
  private noteSize({ pid, size, previous }: GomaxprocsChanged): void {
    if (pid == null) return;
    const since_s = this.levels.live.get(pid)?.seen_s ?? this.since_s;
    this.programSizes.change(pid, size, previous, this.now_s, since_s);
  }

  private rename(event: ThreadRenamed): void {
    const thread = this.threads.live.get(event.tid);
    if (thread) this.renameThread(thread, event.name);
  }

  private renameThread(thread: Thread, name: string): void {
    this.threads.rename(thread, name);
    this.levels.renamed(thread, this.now_s);
  }

  private applyExit(event: ThreadExited): void {
    let thread = this.threads.find(event.tid, event.start_ns);
    const buried = thread ? undefined : this.buriedWithoutRecord(event);
    if (buried) {
      this.correct(buried, event);
      return;
    }
    if (!thread) {
      // Born and ended between two samples, or born in a gap.
      thread = this.bear(event.tid, event.start_ns, event.name, event.pid ?? null);
    }
    this.renameThread(thread, event.name);
    thread.life_s = event.lifetime_ns == null ? null : event.lifetime_ns / 1e9;
    this.counters.setTotals(thread, event.totals);
    this.inexactValues.end(thread, event);
    this.states.end(thread, event.totals, this.now_s);
    this.bury(thread, event.exact);
  }

  /** The thread that a key frame omitted before its exit was reported, if any. */
  private buriedWithoutRecord({ tid, start_ns }: ThreadExited): Thread | undefined {
    const thread = this.unrecorded.get(tid);
    return thread && sameStart(thread, start_ns) ? thread : undefined;
  }

  /** Apply a late exit report to an ended thread: its totals are now known. */
  private correct(thread: Thread, event: ThreadExited): void {
    this.unrecorded.delete(thread.tid);
    thread.exact = event.exact;
    this.threads.rename(thread, event.name);
    this.counters.correctTotals(thread, event.totals);
    this.inexactValues.end(thread, event);
    this.states.end(thread, event.totals, this.now_s);
  }

  private bear(tid: number, start_ns: number, name: string, pid: number | null): Thread {
    const before = this.threads.live.get(tid);
    if (before) this.bury(before, false);
    const thread = this.threads.add(tid, start_ns, name, this, this.history.blockId);
    this.counters.clear(thread);
    this.states.clear(thread);
    this.levels.enter(thread, pid, this.now_s);
    this.rateBase.clear(thread.slot, this.counters.fields.length);
    return thread;
  }

  /** End a thread: move its counters from the live sum to the exited totals. */
  private bury(thread: Thread, exact: boolean): void {
    this.counters.subtract(thread);
    this.levels.leave(thread, this.now_s);
    this.threads.end(thread, this, exact);
  }

  /** Apply a key frame, which names every live thread: add unknown threads, end missing ones. */
  private applyIdentities(frame: Frame, start: Float64Array, names: readonly string[]): void {
    const seen = new Set<number>();
    for (const [row, tid] of frame.tid.entries()) {
      const start_ns = start[row] ?? 0;
      const name = names[row] ?? "";
      const pid = frame.pid?.[row] ?? null;
      let thread = this.threads.find(tid, start_ns);
      if (!thread) {
        // A coalesced frame may contain both a thread's row and its exit.
        const ended =
          this.threads.ended.at(-1)?.end_s === this.now_s && this.endedNow(tid, start_ns);
        if (ended) continue;
        thread = this.bear(tid, start_ns, name, pid);
      }
      if (thread.name !== name) this.renameThread(thread, name);
      if (pid !== null && !thread.process) this.levels.enter(thread, pid, this.now_s);
      seen.add(tid);
    }
    // Threads whose exit was lost in a gap.
    const gone = [...this.threads.live.values()].filter((thread) => !seen.has(thread.tid));
    this.unrecorded.clear();
    for (const thread of gone) {
      this.bury(thread, false);
      this.unrecorded.set(thread.tid, thread);
    }
  }

  private endedNow(tid: number, start_ns: number): boolean {
    return this.threads.ended.some(
      (thread) => thread.tid === tid && thread.end_s === this.now_s && sameStart(thread, start_ns),
    );
  }

  private applyRows(frame: Frame): void {
    const { tid, columns } = frame;
    const order = this.counters.columnsOf(frame.fields);
    const places = this.states.placesOf(frame.fields);
    for (let row = 0; row < tid.length; row++) {
      // Unknown threads occur only after a gap: the next key frame names them.
      const thread = this.threads.live.get(tid[row] ?? -1);
      if (!thread) continue;
      for (let c = 0; c < columns.length; c++) {
        const f = order[c] ?? -1;
        const value = columns[c]?.[row] ?? Number.NaN;
        const place = places[c] ?? -1;
        if (f >= 0) this.counters.set(thread, f, value);
        else if (place >= 0) this.states.set(thread, place, value, this.now_s);
      }
    }
  }
}
