/** The followed target as a whole, and its events. */

import type { ViewInput } from "./chartView";
import type { EventsView, TargetView } from "./views";

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
