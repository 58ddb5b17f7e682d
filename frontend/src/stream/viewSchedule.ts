/**
 * When views are made. What moves with each frame (charts and map in view) is made as soon as there
 * is a new frame and the page has room for it; the newest state wins, and what was not made in
 * between is never made. What is read (tiles, table, events) follows part by part, while the page
 * has nothing to draw. A page has room while it has drawn all but one of what was posted: it then
 * has the next views at hand as soon as it is done, and never a queue.
 */

/** Views that the page may have and not have drawn yet. */
const DEPTH = 2;
/** A page that does not say that it drew (covered, or busy) gets the next views after so long. */
const PATIENCE_MS = 1000;
/** Between two rounds: about the eye's own, and two of those of a display for who drags. */
const MIN_MS = 40;
const ASKED_MS = 16;
/** Rounds may take half of the time, the other half is that of frames. */
const SHARE = 2;
/** Rounds whose cost counts: the cheapest of them, for a busy machine makes single ones look dear. */
const ROUNDS = 8;
/** What is read is made when the page has just drawn; if it draws nothing, so long after it is due. */
const GRACE_MS = 100;
/** What is read and this late comes before what moves, every other time. */
const LATE_MS = 500;

/** What is scheduled. */
export interface Rounds {
  /** Make and post what moves with frames; whether there was something to post. */
  readonly move: () => boolean;
  /** Make and post one part of what is read; whether there was something to post. */
  readonly read: () => boolean;
  /** When a part of what is read is due, by the same clock; Infinity: nothing has changed. */
  readonly readDue_ms: () => number;
}

/** Time, as the worker has it. */
export interface Timing {
  /** A clock that only runs forward, ms. */
  readonly clock_ms: () => number;
  /** Call later; returns what cancels it. */
  readonly later: (call: () => void, ms: number) => () => void;
}

export class ViewSchedule {
  private running = true;
  /** There is something new that moves, and how soon after the last round it may be shown. */
  private fresh = false;
  private rest_ms = MIN_MS;
  /** When views were posted that the page has not drawn yet, oldest first. */
  private undrawn_ms: number[] = [];
  private moved_ms = Number.NEGATIVE_INFINITY;
  private costs_ms: number[] = [];
  /** What is read came first the last time. */
  private wasLate = false;
  private cancel: (() => void) | null = null;
  private due_ms = Number.POSITIVE_INFINITY;

  constructor(
    private readonly rounds: Rounds,
    private readonly timing: Timing,
  ) {}

  /** Something changed, as with each frame. */
  changed(): void {
    this.fresh = true;
    this.arm(false);
  }

  /** A person asked for something else: it is shown sooner. */
  asked(): void {
    this.fresh = true;
    this.rest_ms = ASKED_MS;
    this.arm(false);
  }

  /** The page has drawn the oldest of what it had. */
  drawn(): void {
    this.undrawn_ms.shift();
    this.arm(true);
  }

  /** What is read may be due without a change: a target has gone quiet. */
  check(): void {
    this.arm(false);
  }

  /** Make nothing while nobody looks, and all of it when somebody does again. */
  setRunning(running: boolean): void {
    this.running = running;
    this.undrawn_ms = [];
    if (running) this.asked();
    else this.stop();
  }

  /** Make nothing any more. */
  stop(): void {
    this.cancel?.();
    this.cancel = null;
    this.due_ms = Number.POSITIVE_INFINITY;
  }

  /** @param atRest The page has just drawn: a good moment for what is read. */
  private arm(atRest: boolean): void {
    if (!this.running) return;
    const now = this.timing.clock_ms();
    const due = Math.max(now, Math.min(this.moveDue_ms(now), this.readDue_ms(now, atRest)));
    if (due === Number.POSITIVE_INFINITY || (this.cancel && this.due_ms <= due)) return;
    this.cancel?.();
    this.due_ms = due;
    // Even when due at once it waits for its turn: a burst of frames then makes one view.
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

  /** When the page has room: now, or when patience with it ends. */
  private room_ms(now: number): number {
    const oldest = this.undrawn_ms.at(-DEPTH);
    return oldest === undefined ? now : oldest + PATIENCE_MS;
  }
}
