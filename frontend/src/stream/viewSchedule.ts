/**
 * Scheduling of views. Moving views (visible charts and map) are computed as soon as there is a new
 * frame and the page has capacity. The newest state wins; skipped states are never computed. Text
 * parts (tiles, table, events) follow one by one while the page is idle. A page has capacity while
 * at most one posted view is undrawn. The next views are thus ready when it finishes, but never
 * queue up.
 */

/** Maximum number of posted, undrawn views. */
const DEPTH = 2;
/** Timeout for a page that does not report drawing (hidden or busy), in ms. */
const PATIENCE_MS = 1000;
/**
 * Minimum interval between rounds, in ms: about the eye's limit, and two display frames while
 * dragging.
 */
const MIN_MS = 40;
const ASKED_MS = 16;
/** Reciprocal of the maximum share of time for rounds; the rest is for frames. */
const SHARE = 2;
/**
 * Number of recent rounds considered. The cheapest one counts: on a busy machine single rounds seem
 * expensive.
 */
const ROUNDS = 8;
/**
 * Delay of an overdue text part if the page draws nothing, in ms. Normally text parts follow a
 * drawing.
 */
const GRACE_MS = 100;
/** Lateness above which a text part alternates with moving views, in ms. */
const LATE_MS = 500;

/** Work that is scheduled. */
export interface Rounds {
  /** Compute and post moving views; return whether there were any. */
  readonly move: () => boolean;
  /** Compute and post one text part; return whether there was any. */
  readonly read: () => boolean;
  /** Due time of the next text part, by the same clock; Infinity if nothing has changed. */
  readonly readDue_ms: () => number;
}

/** The worker's clock and timers. */
export interface Timing {
  /** A monotonic clock, ms. */
  readonly clock_ms: () => number;
  /** Schedule a call; returns the cancel function. */
  readonly later: (call: () => void, ms: number) => () => void;
}

export class ViewSchedule {
  private running = true;
  /** Moving data is new, and the minimum delay after the last round. */
  private fresh = false;
  private rest_ms = MIN_MS;
  /** Posting times of undrawn views, oldest first. */
  private undrawn_ms: number[] = [];
  private moved_ms = Number.NEGATIVE_INFINITY;
  private costs_ms: number[] = [];
  /** A text part had priority in the last round. */
  private wasLate = false;
  private cancel: (() => void) | null = null;
  private due_ms = Number.POSITIVE_INFINITY;

  constructor(
    private readonly rounds: Rounds,
    private readonly timing: Timing,
  ) {}

  /** Report a change, such as a frame. */
  changed(): void {
    this.fresh = true;
    this.arm(false);
  }

  /** Report a changed request, which is answered sooner. */
  asked(): void {
    this.fresh = true;
    this.rest_ms = ASKED_MS;
    this.arm(false);
  }

  /** Report that the page has drawn its oldest view. */
  drawn(): void {
    this.undrawn_ms.shift();
    this.arm(true);
  }

  /** Check for due text parts without a change: a target may have gone quiet. */
  check(): void {
    this.arm(false);
  }

  /** Suspend all computation while the page is hidden; resume with everything. */
  setRunning(running: boolean): void {
    this.running = running;
    this.undrawn_ms = [];
    if (running) this.asked();
    else this.stop();
  }

  /** Stop for good. */
  stop(): void {
    this.cancel?.();
    this.cancel = null;
    this.due_ms = Number.POSITIVE_INFINITY;
  }

  /** @param atRest The page has just drawn: a good moment for text parts. */
  private arm(atRest: boolean): void {
    if (!this.running) return;
    const now = this.timing.clock_ms();
    const due = Math.max(now, Math.min(this.moveDue_ms(now), this.readDue_ms(now, atRest)));
    if (due === Number.POSITIVE_INFINITY || (this.cancel && this.due_ms <= due)) return;
    this.cancel?.();
    this.due_ms = due;
    // Even a due round waits for its turn: a burst of frames yields one view.
    this.cancel = this.timing.later(() => {
      this.cancel = null;
      this.due_ms = Number.POSITIVE_INFINITY;
      this.turn(atRest);
    }, due - now);
  }

  private turn(atRest: boolean): void {
    const now = this.timing.clock_ms();
    while (now - (this.undrawn_ms[0] ?? now) >= PATIENCE_MS) this.undrawn_ms.shift();
    const due = this.rounds.readDue_ms();
    const late = due + LATE_MS <= now && !this.wasLate;
    const moves = this.moveDue_ms(now) <= now && !late;
    this.wasLate = late;
    const posted = moves
      ? this.move(now)
      : this.readDue_ms(now, atRest) <= now && this.rounds.read();
    if (posted) this.undrawn_ms.push(this.timing.clock_ms());
    this.arm(atRest && !posted);
  }

  private move(start_ms: number): boolean {
    this.fresh = false;
    this.rest_ms = MIN_MS;
    this.moved_ms = start_ms;
    const posted = this.rounds.move();
    const cost_ms = this.timing.clock_ms() - start_ms;
    this.costs_ms = [...this.costs_ms.slice(1 - ROUNDS), cost_ms];
    return posted;
  }

  private moveDue_ms(now: number): number {
    if (!this.fresh) return Number.POSITIVE_INFINITY;
    const cost_ms = this.costs_ms.length > 0 ? Math.min(...this.costs_ms) : 0;
    return Math.max(this.moved_ms + Math.max(this.rest_ms, SHARE * cost_ms), this.room_ms(now));
  }

  private readDue_ms(now: number, atRest: boolean): number {
    const due = this.rounds.readDue_ms();
    if (this.undrawn_ms.length === 0) return atRest ? due : due + GRACE_MS;
    return Math.max(due + LATE_MS, this.room_ms(now));
  }

  /** Time at which the page has capacity: now, or at the timeout. */
  private room_ms(now: number): number {
    const oldest = this.undrawn_ms.at(-DEPTH);
    return oldest === undefined ? now : oldest + PATIENCE_MS;
  }
}
