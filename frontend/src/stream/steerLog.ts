/** Steering history of a target: policies and decisions, collected from events, bounded. */

import type {
  ProofState,
  SteeredProgram,
  Steering,
  SteeringDecided,
  SteeringStarted,
  SweepState,
  TargetEvent,
} from "../wire/generated/models";
import { GaugeLog } from "./gaugeLog";
import type {
  DecisionView,
  DivisionView,
  RestartView,
  SizeTried,
  SteerBand,
  SteerView,
} from "./steerView";

/** Maximum number of decisions kept: ten minutes at one per second. */
export const KEPT_DECISIONS = 600;

const KEPT_BANDS = 200;
const KEPT_RESULTS = 50;
/**
 * Maximum delay of an event, in seconds: frames bring earlier events, and decisions wait for the
 * next frame.
 */
const EVENT_LATE_S = 1.5;

/** Result of a proof or a sweep. */
interface TrialResult {
  readonly t_s: number;
  readonly proof?: ProofState;
  readonly sweep?: SweepState;
}

export class SteerLog {
  /** Size of the steered pool, from events. */
  readonly sizes = new GaugeLog();
  /** Size proposed by a policy in shadow mode; NaN otherwise. */
  readonly proposals = new GaugeLog();
  /** Operations per second of the last interval; NaN without steering. */
  readonly rates = new GaugeLog();
  /** Incremented with each change. */
  edition = 0;
  private bands: SteerBand[] = [];
  private decisions: DecisionView[] = [];
  private restarts: RestartView[] = [];
  private results: TrialResult[] = [];
  private releases: number[] = [];
  private total = 0;

  /**
   * Record an event at `t_s`, in seconds since attach; events unrelated to steering are ignored.
   */
  note(t_s: number, event: TargetEvent): void {
    switch (event.type) {
      case "steering_started":
        this.begin(t_s, event);
        break;
      case "steering_decided":
        this.decide(event);
        break;
      case "search_restarted":
        this.restarts.push({
          t_s,
          policy: event.policy,
          reason: event.reason,
          actor: event.actor,
        });
        this.restarts = this.restarts.slice(-KEPT_BANDS);
        break;
      case "steering_proven":
        this.results.push({ t_s, proof: event.proof });
        this.results = this.results.slice(-KEPT_RESULTS);
        break;
      case "steering_swept":
        this.results.push({ t_s, sweep: event.sweep });
        this.results = this.results.slice(-KEPT_RESULTS);
        break;
      case "steering_released":
        this.end(t_s);
        this.releases = [...this.releases, t_s].slice(-KEPT_BANDS);
        this.sizes.note(t_s, event.size);
        this.proposals.note(t_s, Number.NaN);
        this.rates.note(t_s, Number.NaN);
        break;
      default:
        return;
    }
    this.edition++;
  }

  /**
   * Adopt the target's current steering if its start is not among the events: it began before the
   * first frame, or in a gap.
   * @param since_s Start of the steering, in seconds since attach.
   * @param now_s The newest frame: during a replay, the start event may still arrive.
   */
  assume(since_s: number, now_s: number, steering: Steering): void {
    if (!(now_s > since_s + EVENT_LATE_S)) return;
    const last = this.bands.at(-1);
    // An event of the release, or of another policy, may precede the target's update.
    if (last !== undefined && (last.to_s ?? last.from_s) >= since_s) return;
    if (last?.to_s === null && last.policy === steering.policy) return;
    this.end(since_s);
    const { policy, shadow, knob, signal, proxy } = steering;
    this.bands.push({ policy, shadow, knob, signal, proxy, from_s: since_s, to_s: null });
    this.edition++;
  }

  private begin(t_s: number, event: SteeringStarted): void {
    this.end(t_s);
    const { policy, shadow, knob, signal, proxy } = event;
    this.bands.push({ policy, shadow, knob, signal, proxy, from_s: t_s, to_s: null });
    this.bands = this.bands.slice(-KEPT_BANDS);
    this.sizes.note(t_s, event.size);
    this.proposals.note(t_s, Number.NaN);
  }

  private end(t_s: number): void {
    const last = this.bands.at(-1);
    if (last?.to_s === null) this.bands[this.bands.length - 1] = { ...last, to_s: t_s };
  }

  private decide(event: SteeringDecided): void {
    const t_s = event.at_ns / 1e9;
    this.decisions.push({
      id: this.total++,
      start_s: t_s - event.elapsed_s,
      t_s,
      policy: event.policy,
      size: event.size,
      next_size: event.next_size,
      proposed: event.proposed,
      rate: event.elapsed_s > 0 ? event.ops / event.elapsed_s : Number.NaN,
      wait_s: event.mean_wait_s,
      state: event.state,
      reason: event.reason,
      counted: event.counted,
      probing: event.probing,
      number: event.number,
      with_policy: event.with_policy ?? null,
      gain: event.gain ?? null,
      division: event.division ?? null,
    });
    this.decisions = this.decisions.slice(-KEPT_DECISIONS);
    if (this.sizes.last === undefined) this.sizes.note(t_s - event.elapsed_s, event.size);
    this.sizes.note(t_s, event.next_size);
    this.proposals.note(t_s, event.proposed ?? Number.NaN);
    this.rates.note(t_s, this.decisions.at(-1)?.rate ?? Number.NaN);
  }

  /** The band in effect at a moment; null without steering. */
  bandAt(t_s: number): SteerBand | null {
    const band = this.bands.findLast(({ from_s }) => from_s <= t_s);
    return band !== undefined && (band.to_s === null || band.to_s > t_s) ? band : null;
  }

  /** The last band that began before a moment. */
  lastBand(t_s: number): SteerBand | null {
    return this.bands.findLast(({ from_s }) => from_s <= t_s) ?? null;
  }

  /** Decisions whose intervals ended in a span, oldest first. */
  between(t0_s: number, t1_s: number): readonly DecisionView[] {
    return this.decisions.filter(({ t_s }) => t_s >= t0_s && t_s <= t1_s);
  }

  /** An arbiter's last allocation up to a moment: one entry, or none. */
  dividedAt(now_s: number, program: DivisionView["program"]): readonly DivisionView[] {
    const last = this.decisions.findLast(({ t_s }) => t_s <= now_s);
    if (!last?.division) return [];
    const { t_s, division } = last;
    const released_s = this.releases.find((each) => each >= t_s && each <= now_s) ?? null;
    return [{ t_s, division, released_s, program }];
  }

  /** Steering up to a moment; null if there was none. */
  view(now_s: number): SteerView | null {
    const bands = this.bands.flatMap((band) =>
      band.from_s > now_s
        ? []
        : [{ ...band, to_s: band.to_s === null || band.to_s > now_s ? null : band.to_s }],
    );
    const decisions = this.decisions.filter(({ t_s }) => t_s <= now_s);
    if (bands.length === 0 && decisions.length === 0) return null;
    const restarts = this.restarts.filter(({ t_s }) => t_s <= now_s);
    const since_s = searchBegan(bands, restarts);
    return {
      bands,
      decisions,
      total: this.total - (this.decisions.length - decisions.length),
      restarts,
      divisions: this.dividedAt(now_s, null),
      proof: this.results.findLast((each) => each.t_s <= now_s && each.proof)?.proof ?? null,
      sweep: this.results.findLast((each) => each.t_s <= now_s && each.sweep)?.sweep ?? null,
      tried: sizesTried(decisions.filter(({ t_s }) => t_s > since_s)),
      tried_since_s: since_s,
    };
  }
}

/** Start of the current search: earlier measurements do not count for it. */
function searchBegan(bands: readonly SteerBand[], restarts: readonly RestartView[]): number {
  let began = bands[0]?.from_s ?? Number.NEGATIVE_INFINITY;
  for (const [i, band] of bands.entries()) {
    const before = bands[i - 1];
    const goesOn =
      before?.to_s === band.from_s && before.knob === band.knob && before.signal === band.signal;
    if (!goesOn) began = band.from_s;
  }
  return Math.max(began, restarts.at(-1)?.t_s ?? Number.NEGATIVE_INFINITY);
}

/** Operations per second of each size, over counted intervals; smallest size first. */
export function sizesTried(decisions: readonly DecisionView[]): readonly SizeTried[] {
  const sums = new Map<number, { rates: number[]; wait: number; waits: number }>();
  for (const { counted, size, rate, wait_s } of decisions) {
    if (!counted || Number.isNaN(rate)) continue;
    const sum = sums.get(size) ?? { rates: [], wait: 0, waits: 0 };
    sum.rates.push(rate);
    if (wait_s !== null) {
      sum.wait += wait_s;
      sum.waits++;
    }
    sums.set(size, sum);
  }
  return Array.from(sums, ([size, { rates, wait, waits }]) => ({
    size,
    ...meanWithin(rates),
    wait_s: waits === 0 ? null : wait / waits,
    intervals: rates.length,
  })).sort((a, b) => a.size - b.size);
}

/** Two-sided 95 % quantiles of Student's t for 1, 2, … degrees of freedom; 1.96 beyond. */
const STUDENT = [
  12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145,
  2.131, 2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048,
  2.045, 2.042,
];

/** Mean of some rates, and its 95 % confidence interval; null with fewer than two. */
function meanWithin(rates: readonly number[]): Pick<SizeTried, "rate" | "low" | "high"> {
  const n = rates.length;
  const rate = rates.reduce((sum, each) => sum + each, 0) / n;
  if (n < 2) return { rate, low: null, high: null };
  const squares = rates.reduce((sum, each) => sum + (each - rate) ** 2, 0);
  const reach = (STUDENT[n - 2] ?? 1.96) * Math.sqrt(squares / (n - 1) / n);
  return { rate, low: Math.max(0, rate - reach), high: rate + reach };
}

/** Maximum number of ended programs kept; the oldest are evicted. */
const KEPT_PROGRAMS = 128;

/** One program's log, with the program's name. */
interface ProgramSteerLog {
  readonly name: string;
  readonly log: SteerLog;
}

export class ProgramSteerLogs {
  /** Logs by process ID. */
  readonly programs = new Map<number, ProgramSteerLog>();

  /** Record an event. Return false if it does not concern one program's steering. */
  note(t_s: number, event: TargetEvent): boolean {
    if (!("program" in event) || event.pid == null) return false;
    const { pid, program } = event;
    this.of(pid, program ?? `process ${pid}`).note(t_s, event);
    return true;
  }

  /** Adopt steering that began before the page's first frame; see `SteerLog.assume`. */
  assume(program: SteeredProgram, since_s: number, now_s: number): void {
    this.of(program.pid, program.name).assume(since_s, now_s, program.steering);
  }

  /** Incremented with each change. */
  get edition(): number {
    let sum = this.programs.size;
    for (const { log } of this.programs.values()) sum += log.edition;
    return sum;
  }

  /**
   * Decisions and restarts of all programs up to a moment, oldest first; null without steering
   * until then.
   */
  view(now_s: number): SteerView | null {
    const views = [...this.programs].flatMap(([pid, { name, log }]) => {
      const view = log.view(now_s);
      return view === null ? [] : [{ program: `${name} (${pid})`, view }];
    });
    if (views.length === 0) return null;
    const inOrder = <T extends { readonly t_s: number }>(of: (view: SteerView) => readonly T[]) =>
      views
        .flatMap(({ program, view }) => of(view).map((one) => ({ ...one, program })))
        .sort((a, b) => a.t_s - b.t_s);
    const decisions = inOrder(({ decisions }) => decisions);
    return {
      // Bands and bars belong to one program, and would overlap here.
      bands: [],
      tried: [],
      tried_since_s: Number.NEGATIVE_INFINITY,
      total: views.reduce((sum, { view }) => sum + view.total, 0),
      decisions: decisions.slice(-KEPT_DECISIONS).map((one, i) => ({ ...one, id: i })),
      restarts: inOrder(({ restarts }) => restarts),
      divisions: this.divided(now_s),
      // Proofs and sweeps belong to one program.
      proof: null,
      sweep: null,
    };
  }

  /** Allocations of programs not yet released at the last decision. */
  private divided(now_s: number): readonly DivisionView[] {
    const all = [...this.programs].flatMap(([pid, { name, log }]) =>
      log.dividedAt(now_s, { pid, name }),
    );
    const last_s = Math.max(...all.map(({ t_s }) => t_s));
    return all.filter(({ released_s }) => released_s === null || released_s > last_s);
  }

  private of(pid: number, name: string): SteerLog {
    const known = this.programs.get(pid);
    if (known?.name === name) return known.log;
    // Another program has recycled the ID.
    this.programs.delete(pid);
    const log = new SteerLog();
    this.programs.set(pid, { name, log });
    for (const old of this.programs.keys()) {
      if (this.programs.size <= KEPT_PROGRAMS) break;
      this.programs.delete(old);
    }
    return log;
  }
}
