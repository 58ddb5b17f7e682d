/** The followed target as a whole: its state, events and data quality. */

import type {
  CountersSource,
  Group,
  GroupCounts,
  StreamStats,
  Target,
} from "../wire/generated/models";
import type { ViewInput } from "./chartView";
import type { CpuCheck } from "./inexact";
import type { TargetModel } from "./targetModel";
import type { EventsView } from "./views";

/** Data quality. */
export interface DataHealth {
  /** CPU of the process, and of its live and ended threads, since attach. */
  readonly cpu_check: CpuCheck | null;
  /** Threads that ended without an exit record since attach. */
  readonly exits_inexact: number;
  /** Requested sampling rate, in Hz. */
  readonly rate_hz: number;
  /** Sampling rate in effect: lower if the collector's CPU budget is exhausted. NaN until known. */
  readonly in_force_hz: number;
  /** Whether the rate is reduced because of undelivered frames. */
  readonly slowed_by_backlog: boolean;
  /** Rate of received samples over about the last 5 s; NaN until known. */
  readonly arriving_hz: number;
  /** The collector's time for the last sample. */
  readonly sample_us: number;
  /** Mean and maximum over the last five to ten seconds. */
  readonly sample_mean_us: number;
  readonly sample_max_us: number;
  readonly late_us: number;
  readonly missed_deadlines: number;
  readonly exit_records_received: number;
  readonly exit_records_lost: number;
  readonly collector_cpu_percent: number | null;
  /** Share of CPU for sampling and sending, all targets together, and its limit; 0 for no limit. */
  readonly overhead_percent: number | null;
  readonly budget_percent: number;
  /**
   * Number of frames held for replay, number of unsent ones, and total bytes sent by the collector.
   */
  readonly replay_frames: number;
  readonly replay_bytes: number;
  readonly unsent_frames: number;
  /** Frames of this target that the collector dropped before delivery to the backend. */
  readonly frames_dropped: number;
  /** Exited threads present in the totals only: too many for individual reports. */
  readonly exits_without_event: number;
  /** Socket calls that the eBPF program failed to count, host-wide. */
  readonly network_calls_uncounted: number;
  /** Source of the last sample's counters; null if none were read. */
  readonly counters_from: CountersSource | null;
  /** Mismatch between bulk reads and taskstats; null if never. */
  readonly counters_disagreement: string | null;
  /** Why locks cannot be read or named; null if they can, or if there are none. */
  readonly locks_reason: string | null;
  readonly sent_bytes: number;
  /** Instants coalesced into later frames in transit, by sequence numbers; totals are complete. */
  readonly coalesced: number;
  /** Lost frames by sequence numbers, and the number of gaps. */
  readonly missing_frames: number;
  readonly gaps: number;
  /** Number of current and past processes of a group; null otherwise. */
  readonly group: GroupCounts | null;
  /** Method of discovering processes that join the group, and the reason; null without a group. */
  readonly discovery: Pick<Group, "discovery" | "discovery_reason"> | null;
  /** The backend's statistics for this page; null until reported. */
  readonly stream: StreamStats | null;
  /**
   * Latency from sampling to reception in the worker, ms (clocks of one host; null if implausible).
   */
  readonly latency_ms: number | null;
  readonly frames: number;
  readonly last_frame_unix_ms: number;
  /** Number of undecodable frames, and the last reason. */
  readonly bad_frames: number;
  readonly bad_frame_reason: string;
  /** Oldest retained instant, in seconds since attach, and memory of the rings in bytes. */
  readonly history_from_s: number;
  readonly history_bytes: number;
}

/** The followed target as a whole, at the newest instant (or the freeze instant when paused). */
export interface TargetView {
  /** Null until the backend has reported the target. */
  readonly target: Target | null;
  readonly id: string;
  /**
   * loading: no frame yet. live: frames arrive. quiet: attached, but no frame for 3 s. ended:
   * exited or detached; the charts stay.
   */
  readonly state: "loading" | "live" | "quiet" | "ended";
  /** Exit code, if the process exited with a known status. */
  readonly exit_code: number | null;
  readonly now_s: number;
  /** Ends of the time axis in effect. */
  readonly t0_s: number;
  readonly t1_s: number;
  readonly live_threads: number;
  /** Since attach. */
  readonly born_threads: number;
  /** Threads born since attach. */
  readonly exited_threads: number;
  /** Threads exited since attach. */
  readonly group: GroupCounts | null;
  readonly gomaxprocs: number | null;
  readonly rss_bytes: number | null;
  /** Energy of the machine's packages since attach, in joules; null if unknown. */
  readonly energy_j: number | null;
  /** The energy is incomplete: a counter restarted. */
  readonly energy_is_part: boolean;
  readonly paused: boolean;
  /** Error in the filter expression; "" if none. */
  readonly filter_problem: string;
}

/** Time without a frame after which a target is called quiet, in ms. */
const QUIET_MS = 3000;

/**
 * Current state.
 * @param silent_ms Time since the last frame.
 */
export function targetView(input: ViewInput, silent_ms: number): TargetView {
  const { model, request, filter, span, now_s, target } = input;
  const over = model.ended !== null || (target !== null && target.state !== "attached");
  const quiet = silent_ms > QUIET_MS ? "quiet" : "live";
  return {
    target,
    id: target?.id ?? "",
    state: over ? "ended" : model.seq === 0 ? "loading" : quiet,
    exit_code: model.exit_code,
    now_s,
    t0_s: span.t0_s,
    t1_s: span.t1_s,
    live_threads: model.live,
    born_threads: model.born,
    exited_threads: model.exited,
    group: model.group,
    gomaxprocs: model.gomaxprocs,
    rss_bytes: model.rss_bytes,
    energy_j: numberOr(model.machine.energyAt(now_s), null),
    energy_is_part: model.machine.holesAt(now_s),
    paused: request.paused,
    filter_problem: filter.problem,
  };
}

/** Last events up to the newest instant shown, or those of a chosen window. */
export function eventsView({ model, request, span, now_s, target }: ViewInput): EventsView {
  // Events just before the first sample arrive with it.
  const chosen = request.window.kind === "fixed" && span.t0_s > model.since_s;
  const [from_s, to_s] = chosen
    ? [span.t0_s, Math.min(span.t1_s, now_s)]
    : [Number.NEGATIVE_INFINITY, now_s];
  const attached_ms = target ? target.attached_unix_us / 1000 : model.unix_ms - 1000 * model.now_s;
  const events = model.events.between(from_s, to_s).map(({ id, t_s, since_s, times, event }) => ({
    id,
    t_s,
    unix_ms: attached_ms + 1000 * t_s,
    since_unix_ms: attached_ms + 1000 * since_s,
    times,
    event,
  }));
  return { events, of_window: chosen, total: model.events.total };
}

function numberOr<T>(value: number, otherwise: T): number | T {
  return Number.isNaN(value) ? otherwise : value;
}

/** Reception statistics of the socket's side. */
export interface Reception {
  readonly stream: DataHealth["stream"];
  readonly latency_ms: number | null;
  readonly bad_frames: number;
  readonly bad_frame_reason: string;
}

/** Data quality of a target. */
export function healthView(model: TargetModel, target: Target | null, way: Reception): DataHealth {
  const { health, losses, history } = model;
  return {
    cpu_check: model.reconciliation.check,
    exits_inexact: model.inexact,
    rate_hz: health?.requested_hz ?? target?.rate_hz ?? Number.NaN,
    in_force_hz: health?.effective_hz ?? Number.NaN,
    slowed_by_backlog: health?.slowed_by_backlog ?? false,
    arriving_hz: model.arrivals.hz,
    sample_us: health?.sample_us ?? Number.NaN,
    sample_mean_us: health?.sample_mean_us ?? Number.NaN,
    sample_max_us: health?.sample_max_us ?? Number.NaN,
    late_us: health?.late_us ?? Number.NaN,
    missed_deadlines: health?.missed_deadlines ?? 0,
    exit_records_received: health?.exit_records_received ?? 0,
    exit_records_lost: health?.exit_records_lost ?? 0,
    collector_cpu_percent: health?.cpu_percent ?? null,
    overhead_percent: health?.overhead_percent ?? null,
    budget_percent: health?.budget_percent ?? 0,
    replay_frames: health?.replay_frames ?? Number.NaN,
    replay_bytes: health?.replay_bytes ?? Number.NaN,
    unsent_frames: health?.unsent_frames ?? Number.NaN,
    frames_dropped: health?.frames_dropped ?? 0,
    exits_without_event: health?.exits_without_event ?? 0,
    network_calls_uncounted: health?.network_calls_uncounted ?? 0,
    counters_from: model.counters_from,
    counters_disagreement: health?.counters_disagreement ?? null,
    locks_reason: health?.locks_reason ?? null,
    sent_bytes: health?.sent_bytes ?? Number.NaN,
    coalesced: losses.coalesced,
    missing_frames: losses.missing,
    gaps: losses.gaps,
    group: model.group,
    discovery: target?.group ?? null,
    ...way,
    frames: losses.frames,
    last_frame_unix_ms: model.unix_ms,
    history_from_s: history.from_s,
    history_bytes: history.bytes,
  };
}
