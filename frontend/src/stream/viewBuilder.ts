/**
 * Computes the views that a page requests, at bounded rates. Visible charts follow frames. Text
 * parts (tiles, table, events, time breakdown) are updated one by one, at most twice a second each,
 * and only if changed. Invisible charts are updated when the request changes. Holds the frozen
 * state of a paused view.
 */

import type { Target } from "../wire/generated/models";
import { type Chosen, chartView, chooseThreads, type ViewInput } from "./chartView";
import { CpuViewMaker } from "./cpu/cpuView";
import { type CurrentRates, frozenRates, movingRates } from "./currentRates";
import { FactViewMaker, type FactViews, isFactPart, wantsFacts } from "./factViews";
import type { MapView } from "./mapPicture";
import { MapMaker } from "./mapView";
import { type Filter, filterFrom } from "./rank";
import { opsView, sizeView } from "./sizeView";
import type { SteerView } from "./steerView";
import type { Steps } from "./steps";
import { tableView } from "./tableView";
import type { TargetModel } from "./targetModel";
import { eventsView, type TargetView, targetView } from "./targetView";
import { tileViews } from "./tileView";
import { timesSteps, timesView } from "./timesView";
import { equal, PARTS, type Part, type PartName, restOf, SLOW_MS } from "./viewParts";
import { type ChartId, type ChartRequest, DEFAULT_REQUEST, type ViewRequest } from "./viewRequest";
import type { ChartView, EventsView, TableView, TileView } from "./views";
import { type Span, sameSpan, spanOf, windowRates } from "./window";

/**
 * Age of line choices, in ms, above which all charts choose again at once: frames arrive rarely.
 */
const STALE_MS = 900;
/** Maximum duration of consecutive steps, in ms: frames take priority. */
const STEP_MS = 8;
/** Interval of the target's state without frames, in ms, so that silence shows. */
const STATE_MS = 1000;

export interface Views extends FactViews {
  /** Ends of the time axis: charts updated less often use the same axis. */
  readonly axis: Span;
  readonly target: TargetView;
  readonly charts: readonly ChartView[];
  readonly tiles: readonly TileView[];
  readonly table: TableView;
  readonly events: EventsView;
  readonly steer: SteerView;
  readonly map: MapView;
}

export class ViewBuilder {
  private request: ViewRequest = DEFAULT_REQUEST;
  private charts: readonly ChartRequest[] = [];
  private filter: Filter = filterFrom("");
  private frozen: { readonly now_s: number; readonly rates: CurrentRates } | null = null;
  /** Rates over the last chosen window: past instants do not change. */
  private windowed: (Span & { readonly rates: CurrentRates }) | null = null;
  /** True once data is visible, with charts first. */
  private begun = false;
  private axis: Span | null = null;
  private readonly chosen = new Map<ChartId, { readonly by: Chosen; readonly at_ms: number }>();
  private readonly parts = new Map<PartName, Part>();
  /** Charts whose view is outdated by the request. */
  private readonly asked = new Set<ChartId>();
  /** State of the last view of each chart. */
  private readonly states = new Map<ChartId, ChartView["state"]>();
  /** Parts partly computed. */
  private readonly half = new Map<PartName, Steps<Partial<Views>>>();
  private steerSeen = -1;
  private readonly factMaker = new FactViewMaker();
  private readonly cpu: CpuViewMaker;
  private mapMaker = new MapMaker();
  /** True if the map has data. */
  private mapped = false;

  /** @param clock Monotonic clock, ms. */
  constructor(
    private readonly model: TargetModel,
    private readonly clock: () => number,
  ) {
    this.cpu = new CpuViewMaker(clock);
    for (const name of PARTS) {
      this.parts.set(name, { made_ms: Number.NEGATIVE_INFINITY, edition: -1, asked_ms: null });
    }
  }

  /** Whether the view is frozen, so that frames have no effect. */
  get paused(): boolean {
    return this.request.paused;
  }

  /** Set the page's requests; changed parts are due at once. */
  ask(request: ViewRequest, charts: readonly ChartRequest[]): void {
    const { request: before, charts: shown } = this;
    if (request.filter !== before.filter) this.filter = filterFrom(request.filter);
    if (request.paused && !this.frozen && this.model.seq > 0) {
      this.frozen = { now_s: this.model.now_s, rates: frozenRates(this.model) };
    } else if (!request.paused) {
      this.frozen = null;
    }
    if (request.map === null) this.mapMaker = new MapMaker();
    this.request = request;
    this.charts = charts;
    const { table, tiles, events, map, facts, open_lock } = before;
    if (!equal({ ...request, table, tiles, events, map, facts, open_lock }, before)) {
      this.askAll();
      return;
    }
    for (const part of request.facts) if (!facts.includes(part)) this.outdate(part);
    if (request.open_lock !== open_lock) this.outdate("waiting");
    for (const part of ["table", "tiles", "events", "map"] as const) {
      if (!equal(request[part], before[part])) this.outdate(part);
    }
    for (const chart of charts) {
      // A chart that becomes invisible keeps its picture.
      const served = (other: ChartRequest) => equal({ ...other, in_view: chart.in_view }, chart);
      const known = shown.find(served);
      if (!known || (chart.in_view && !known.in_view)) this.askChart(chart);
    }
  }

  /** Recompute everything once. */
  askAll(): void {
    this.axis = null;
    for (const name of PARTS) this.outdate(name);
    for (const chart of this.charts) this.askChart(chart);
    this.steerSeen = -1;
  }

  private askChart({ chart, in_view }: ChartRequest): void {
    this.asked.add(chart);
    if (chart === "times") {
      this.outdate("times");
    } else if (!in_view) {
      this.outdate("unseen");
    }
  }

  private outdate(name: PartName): void {
    const part = this.parts.get(name);
    // A partial result belongs to the previous request.
    this.half.delete(name);
    // With repeated requests the first one counts, so that the part is not deferred forever.
    if (part) part.asked_ms ??= this.clock();
  }

  /** Compute the views that follow each frame: visible charts and map. */
  moving(target: Target | null): Partial<Views> {
    if (this.model.seq === 0) return {};
    if (!this.begun) {
      this.begun = true;
      for (const part of this.parts.values()) part.asked_ms = null;
      this.askAll();
    }
    const input = this.input(target);
    const shown = this.charts.filter((chart) => chart.in_view && !isTimes(chart));
    const due = this.frozen ? shown.filter(({ chart }) => this.asked.has(chart)) : shown;
    this.forgetChoices(due);
    const steer = this.steerView(input);
    const map = this.frozen ? null : this.mapView(input, false);
    return {
      ...this.movedAxis(input),
      ...this.chartViews(input, due),
      ...(steer && { steer }),
      ...(map && { map }),
    };
  }

  /** Time at which the next text part is due. */
  get due_ms(): number {
    return Math.min(...PARTS.map((name) => this.dueOf(name)));
  }

  /**
   * Compute the text part that is due first, or some more of its steps.
   * @param silent_ms Time since the last frame.
   */
  part(target: Target | null, silent_ms: number): Partial<Views> {
    const due = PARTS.map((name) => this.dueOf(name));
    const name = PARTS[due.indexOf(Math.min(...due))] ?? "target";
    const made = this.makePart(name, this.input(target), silent_ms);
    if (this.half.has(name)) return made;
    const now = this.clock();
    const more = name === "unseen" && this.unseen.some(({ chart }) => this.asked.has(chart));
    const edition = this.editionOf(name);
    this.parts.set(name, { made_ms: now, edition, asked_ms: more ? now : null });
    return made;
  }

  private makePart(name: PartName, input: ViewInput, silent_ms: number): Partial<Views> {
    const { request } = this;
    if (isFactPart(name)) return this.inSteps(name, () => this.factMaker.make(name, input));
    switch (name) {
      case "target":
        return { target: targetView(input, silent_ms) };
      case "tiles":
        return request.tiles ? { tiles: tileViews(input, this.ratesOf(input)) } : {};
      case "table":
        return request.table ? { table: tableView(input, this.ratesOf(input), request.table) } : {};
      case "events":
        return request.events ? { events: eventsView(input) } : {};
      case "map": {
        const map = this.mapView(input, true);
        return map ? { map } : {};
      }
      case "times":
        return this.inSteps(name, () => this.timesPart(input));
      case "unseen":
        return this.chartViews(input, this.nextUnseen());
    }
  }

  /** Run some steps of a part, continuing earlier ones; returns the result after the last step. */
  private inSteps(name: PartName, begin: () => Steps<Partial<Views>>): Partial<Views> {
    const steps = this.half.get(name) ?? begin();
    this.half.delete(name);
    const start_ms = this.clock();
    do {
      const { done, value } = steps.next();
      if (done) return value;
    } while (this.clock() - start_ms < STEP_MS);
    this.half.set(name, steps);
    return {};
  }

  private *timesPart(input: ViewInput): Steps<Partial<Views>> {
    const asked = this.charts.find(isTimes);
    if (!asked) return {};
    return { charts: [this.noted(yield* timesSteps(input, asked))] };
  }

  private dueOf(name: PartName): number {
    const part = this.parts.get(name);
    const never = Number.POSITIVE_INFINITY;
    if (!part || !(this.begun || name === "target")) return never;
    const { made_ms, asked_ms } = part;
    if (asked_ms !== null) return asked_ms;
    const same = part.edition === this.editionOf(name);
    if (name === "target") return made_ms + (same ? STATE_MS : SLOW_MS);
    if (same || this.frozen || !this.wants(name)) return never;
    return made_ms + restOf(name, this.model.live, this.isSeen(name));
  }

  /** Whether a part is visible: a visible map, findings if there are any. */
  private isSeen(name: PartName): boolean {
    if (name === "map") return this.request.map?.in_view === true;
    return name !== "findings" || !this.factMaker.waiting;
  }

  /** Whether the page needs updates of a part. */
  private wants(name: PartName): boolean {
    const { request, charts } = this;
    if (isFactPart(name)) return wantsFacts(request, name);
    switch (name) {
      case "target":
        return true;
      case "tiles":
      case "events":
        return request[name];
      case "table":
        return request.table !== null;
      case "map":
        return request.map !== null && (request.map.in_view || !this.mapped);
      case "times":
        return charts.some(
          (chart) => isTimes(chart) && (chart.in_view || this.states.get("times") !== "ok"),
        );
      case "unseen":
        return this.nextUnseen().length > 0;
    }
  }

  private editionOf(name: PartName): number {
    return name === "events" ? this.model.events.edition : this.model.seq;
  }

  /** Current rates, or means over a chosen window. */
  private ratesOf({ span, request, now_s }: ViewInput): CurrentRates {
    if (request.window.kind === "last") return this.frozen?.rates ?? movingRates(this.model);
    const known = { t0_s: span.t0_s, t1_s: Math.min(span.t1_s, now_s) };
    if (this.windowed && sameSpan(this.windowed, known)) return this.windowed.rates;
    const rates = windowRates(this.model, known);
    this.windowed = { ...known, rates };
    return rates;
  }

  private get unseen(): readonly ChartRequest[] {
    return this.charts.filter((chart) => !(chart.in_view || isTimes(chart)));
  }

  /** Invisible charts to compute next: a requested one, or all without data. */
  private nextUnseen(): readonly ChartRequest[] {
    const { unseen } = this;
    const asked = unseen.find(({ chart }) => this.asked.has(chart));
    return asked ? [asked] : unseen.filter(({ chart }) => this.states.get(chart) !== "ok");
  }

  private input(target: Target | null): ViewInput {
    const { model, request, filter } = this;
    const now_s = this.frozen?.now_s ?? model.now_s;
    const span = spanOf(request.window, Number.isNaN(now_s) ? 0 : now_s, model.history.from_s);
    return { model, target, request, filter, span, now_s };
  }

  /** The axis, if changed since it was last sent. */
  private movedAxis({ span }: ViewInput): Partial<Views> {
    if (this.axis && sameSpan(this.axis, span)) return {};
    this.axis = span;
    return { axis: this.axis };
  }

  private chartViews(input: ViewInput, charts: readonly ChartRequest[]): Partial<Views> {
    if (charts.length === 0) return {};
    return { charts: charts.map((chart) => this.chartView(input, chart)) };
  }

  private chartView(input: ViewInput, asked: ChartRequest): ChartView {
    return this.noted(this.viewOf(input, asked));
  }

  /** Record that a view is up to date. */
  private noted(view: ChartView): ChartView {
    this.asked.delete(view.chart);
    this.states.set(view.chart, view.state);
    return view;
  }

  private viewOf(input: ViewInput, asked: ChartRequest): ChartView {
    const { chart } = asked;
    if (chart === "gomaxprocs") return sizeView(input);
    if (chart === "ops") return opsView(input);
    if (chart === "times") return timesView(input, asked);
    if (chart === "cpu" && this.request.level === null) {
      if (this.asked.has(chart)) {
        const { rank_by, top_k } = this.request;
        this.cpu.outdate(`${top_k} ${JSON.stringify(rank_by)}`);
      }
      return this.cpu.make(input, asked);
    }
    let chosen = this.chosen.get(chart);
    if (!chosen || chosen.at_ms === Number.NEGATIVE_INFINITY) {
      const before = new Set(chosen?.by.threads.map((thread) => thread.key));
      chosen = { by: chooseThreads(input, chart, before), at_ms: this.clock() };
      this.chosen.set(chart, chosen);
    }
    return chartView(input, asked, chosen.by);
  }

  /** Choose lines again: for requested charts, for old choices, or else for one chart per round. */
  private forgetChoices(charts: readonly ChartRequest[]): void {
    const now = this.clock();
    let oldest: ChartId | null = null;
    let oldest_ms = now - SLOW_MS;
    for (const { chart } of charts) {
      const at_ms = this.chosen.get(chart)?.at_ms ?? now;
      if (this.asked.has(chart) || now - at_ms >= STALE_MS) this.forgetChoice(chart);
      else if (at_ms <= oldest_ms) [oldest, oldest_ms] = [chart, at_ms];
    }
    if (oldest) this.forgetChoice(oldest);
  }

  /** Forget a choice; previous lines win ties. */
  private forgetChoice(chart: ChartId): void {
    const chosen = this.chosen.get(chart);
    if (chosen) this.chosen.set(chart, { ...chosen, at_ms: Number.NEGATIVE_INFINITY });
  }

  /** Null if unchanged. */
  private mapView(input: ViewInput, slow: boolean): MapView | null {
    const { map } = this.request;
    if (!map || !(slow || map.in_view)) return null;
    const view = this.mapMaker.make(input, map, slow, this.clock);
    if (view) this.mapped = view.columns > 0;
    return view;
  }

  /** Null if unchanged. */
  private steerView({ model, now_s, target }: ViewInput): SteerView | null {
    if (target?.steering && !this.frozen) {
      const began_us = target.steering.since_unix_us - target.attached_unix_us;
      model.steer.assume(began_us / 1e6, now_s, target.steering);
    }
    for (const program of (this.frozen ? null : target?.programs) ?? []) {
      const began_us = program.steering.since_unix_us - (target?.attached_unix_us ?? 0);
      model.programSteer.assume(program, began_us / 1e6, now_s);
    }
    const edition = model.steer.edition + model.programSteer.edition;
    if (this.steerSeen >= 0 && (this.frozen || edition === this.steerSeen)) return null;
    this.steerSeen = edition;
    return model.steer.view(now_s) ?? model.programSteer.view(now_s);
  }
}

function isTimes({ chart }: ChartRequest): boolean {
  return chart === "times";
}
