/**
 * Makes the views that a page asked for, no more often than is of use: charts as frames come, what
 * is read as numbers (table, tiles, events) twice a second. Holds what must not change while the
 * view is paused. Time comes in as an argument.
 */

import type { Target } from "../wire/generated/models";
import { type Chosen, chartView, chooseThreads, type ViewInput } from "./chartView";
import { type CurrentRates, frozenRates, movingRates } from "./currentRates";
import { type Filter, filterFrom } from "./filter";
import type { MapView } from "./mapPicture";
import { MapMaker } from "./mapView";
import { opsView, sizeView } from "./sizeView";
import type { SteerView } from "./steerView";
import { tableView } from "./tableView";
import type { TargetModel } from "./targetModel";
import { tileViews } from "./tileView";
import { timesView } from "./timesView";
import { type ChartId, type ChartRequest, DEFAULT_REQUEST, type ViewRequest } from "./viewRequest";
import type { ChartView, DataHealth, EventsView, TableView, TargetView, TileView } from "./views";
import { spanOf } from "./window";

/** How often numbers that are read change, and how often lines may change places. */
const SLOW_MS = 500;
/**
 * Where the time goes looks at every thread: 5,000 busy ones take about a tenth of a second of CPU. So
 * long a thread must lie between two looks.
 */
const TIMES_MS = 0.25;
/** Without a frame for so long, a target is called quiet. */
const QUIET_MS = 3000;

/** Views made together; null or left out: as before. */
export interface Views {
  readonly target: TargetView;
  readonly charts: readonly ChartView[];
  readonly tiles: readonly TileView[] | null;
  readonly table: TableView | null;
  readonly events: EventsView | null;
  readonly steer: SteerView | null;
  readonly map: MapView | null;
}

export class ViewBuilder {
  private request: ViewRequest = DEFAULT_REQUEST;
  private charts: readonly ChartRequest[] = [];
  private filter: Filter = filterFrom("");
  private frozen: { readonly now_s: number; readonly rates: CurrentRates } | null = null;
  private chosen = new Map<ChartId, Chosen>();
  private slow_ms = Number.NEGATIVE_INFINITY;
  private times_ms = Number.NEGATIVE_INFINITY;
  private eventsSeen = -1;
  private steerSeen = -1;
  private asked = true;
  private mapMaker = new MapMaker();

  /** @param clock For what measures its own cost; the default stands still. */
  constructor(
    private readonly model: TargetModel,
    private readonly clock: () => number = () => 0,
  ) {}

  /** Whether a frame changes what is shown. */
  get paused(): boolean {
    return this.request.paused;
  }

  /** What the page wants from now on. */
  ask(request: ViewRequest, charts: readonly ChartRequest[]): void {
    if (request.filter !== this.request.filter) this.filter = filterFrom(request.filter);
    if (request.paused && !this.frozen && this.model.seq > 0) {
      this.frozen = { now_s: this.model.now_s, rates: frozenRates(this.model) };
    } else if (!request.paused) {
      this.frozen = null;
    }
    if (request.map === null) this.mapMaker = new MapMaker();
    this.request = request;
    this.charts = charts;
    this.asked = true;
  }

  /**
   * Make what is due.
   *
   * @param clock_ms A clock that only runs forward.
   * @param silent_ms How long ago the last frame came.
   */
  make(target: Target | null, clock_ms: number, silent_ms: number): Views {
    const all = this.asked;
    this.asked = false;
    const slow = all || clock_ms - this.slow_ms >= SLOW_MS - 20;
    if (slow) this.slow_ms = clock_ms;
    const due = all || (slow && clock_ms - this.times_ms >= TIMES_MS * this.model.live);
    if (due) this.times_ms = clock_ms;
    const input = this.input(target);
    const base = this.targetView(input, silent_ms);
    if (this.model.seq === 0 || (this.frozen && !all)) {
      const nothing = { tiles: null, table: null, events: null, steer: null, map: null };
      return { target: base, charts: [], ...nothing };
    }
    const rates = this.frozen?.rates ?? movingRates(this.model);
    const { request } = this;
    return {
      target: base,
      charts: this.charts.flatMap(
        (chart) => this.chartView(input, chart, { choose: slow, due }) ?? [],
      ),
      tiles: slow && request.tiles ? tileViews(input, rates) : null,
      table: slow && request.table ? tableView(input, rates, request.table) : null,
      events: slow && request.events ? this.eventsView(input, all) : null,
      steer: this.steerView(input, all),
      map: request.map ? this.mapMaker.make(input, request.map, slow, this.clock) : null,
    };
  }

  private input(target: Target | null): ViewInput {
    const { model, request, filter } = this;
    const now_s = this.frozen?.now_s ?? model.now_s;
    const span = spanOf(request.window, Number.isNaN(now_s) ? 0 : now_s);
    return { model, target, request, filter, span, now_s };
  }

  /** Null: as before. */
  private chartView(
    input: ViewInput,
    asked: ChartRequest,
    { choose, due }: { readonly choose: boolean; readonly due: boolean },
  ): ChartView | null {
    if (asked.chart === "gomaxprocs") return sizeView(input);
    if (asked.chart === "ops") return opsView(input);
    // Its bands are means over half a second or more.
    if (asked.chart === "times") return due ? timesView(input, asked) : null;
    let chosen = this.chosen.get(asked.chart);
    if (!chosen || choose) {
      const before = new Set(chosen?.threads.map((thread) => thread.key));
      chosen = chooseThreads(input, asked.chart, before);
      this.chosen.set(asked.chart, chosen);
    }
    return chartView(input, asked, chosen);
  }

  private eventsView({ model, now_s, target }: ViewInput, all: boolean): EventsView | null {
    if (!all && model.events.edition === this.eventsSeen) return null;
    this.eventsSeen = model.events.edition;
    const attached_ms = target
      ? target.attached_unix_us / 1000
      : model.unix_ms - 1000 * model.now_s;
    const events = model.events.until(now_s).map(({ id, t_s, since_s, times, event }) => ({
      id,
      t_s,
      unix_ms: attached_ms + 1000 * t_s,
      since_unix_ms: attached_ms + 1000 * since_s,
      times,
      event,
    }));
    return { events, total: model.events.total };
  }

  /** Null: as before. */
  private steerView({ model, now_s, target }: ViewInput, all: boolean): SteerView | null {
    if (target?.steering && !this.frozen) {
      const began_us = target.steering.since_unix_us - target.attached_unix_us;
      model.steer.assume(began_us / 1e6, now_s, target.steering);
    }
    if (!all && model.steer.edition === this.steerSeen) return null;
    this.steerSeen = model.steer.edition;
    return model.steer.view(now_s);
  }

  private targetView(input: ViewInput, silent_ms: number): TargetView {
    const { model, request, filter } = this;
    const { span, now_s, target } = input;
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
      gomaxprocs: model.gomaxprocs,
      rss_bytes: model.rss_bytes,
      energy_j: numberOr(model.machine.energyAt(now_s), null),
      energy_is_part: model.machine.holesAt(now_s),
      paused: request.paused,
      filter_problem: filter.problem,
    };
  }
}

function numberOr<T>(value: number, otherwise: T): number | T {
  return Number.isNaN(value) ? otherwise : value;
}

/** What the socket's side knows about the data's way here. */
export interface Reception {
  readonly stream: DataHealth["stream"];
  readonly latency_ms: number | null;
  readonly bad_frames: number;
  readonly bad_frame_reason: string;
}

/** How good the data is. */
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
    sent_bytes: health?.sent_bytes ?? Number.NaN,
    coalesced: losses.coalesced,
    missing_frames: losses.missing,
    gaps: losses.gaps,
    ...way,
    frames: losses.frames,
    last_frame_unix_ms: model.unix_ms,
    history_from_s: history.from_s,
    history_bytes: history.bytes,
  };
}
