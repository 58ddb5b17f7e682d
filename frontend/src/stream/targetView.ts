/** The followed target as a whole: its state, events and data quality. */

import type { Target } from "../wire/generated/models";
import type { ViewInput } from "./chartView";
import type { TargetModel } from "./targetModel";
import type { DataHealth, EventsView, TargetView } from "./views";

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
    arriving_hz: model.arriving_hz,
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
