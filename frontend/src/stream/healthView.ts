/** Data quality: collector health, losses on the transport, and retention. */

import type { Target } from "../wire/generated/models";
import type { TargetModel } from "./targetModel";
import type { DataHealth } from "./views";

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
