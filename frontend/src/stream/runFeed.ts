/**
 * Frames of a run for the window in view. First a coarse picture of all of it; where the window is
 * finer than that, the frames of the window, with a margin, into a fresh model. The picture before
 * stays until the next is there. A model holds what was up to the window's right end, so numbers are
 * of that moment: it moves on with the window, and is made again when the window goes back.
 */

import { type Frame, FrameDecoder } from "../wire/frame";
import type { RoleRule } from "../wire/generated/models";
import { decodeExtremes } from "../wire/rateExtremes";
import { RING_FIELDS } from "./chartSpecs";
import { History } from "./history";
import { outlineOf } from "./outline";
import { OVER_S, RateExtremes } from "./rateExtremes";
import {
  covers,
  type Piece,
  type RunSource,
  sampleStep,
  serves,
  type Wanted,
  wantedFor,
  wholeOf,
} from "./runWindow";
import { STATE_FIELD } from "./states";
import { TargetModel } from "./targetModel";
import type { Outline, Reading } from "./views";
import { type Span, sameSpan } from "./window";

/** A window that still moves is not asked for yet. */
const SETTLED_MS = 150;
/** Between two views of a picture that fills: on few CPUs they take turns with what fills it. */
const GROWING_MS = 250;
/** Windows that are kept, beside the whole run. */
const KEPT = 4;
/** Upper bound of what a model keeps of the past. */
const HISTORY_BYTES = 192 * 1024 * 1024;

/** What it takes from outside. */
export interface RunEnvironment {
  readonly read: (
    url: string,
    onFrame: (frame: ArrayBuffer) => void,
    signal: AbortSignal,
  ) => Promise<void>;
  readonly later: (call: () => void, ms: number) => () => void;
}

/** What it reports. */
export interface RunEvents {
  /** Views are made of this model from now on. */
  readonly onModel: (model: TargetModel) => void;
  /** The model in use took frames in. */
  readonly onGrown: () => void;
  readonly onReading: (reading: Reading) => void;
  readonly onOutline: (outline: Outline) => void;
  readonly onBad: (reason: string) => void;
}

/**
 * Frames that were read together. `step_s` and `raw` say what was asked for; a run with very many rows
 * is answered more coarsely, and asking again would bring no more.
 */
interface Held extends Piece {
  readonly frames: Frame[];
  /** How far rates were apart between them; null: nothing is in between, or it is not known. */
  extremes: RateExtremes | null;
}

/** Mean time between the frames of a piece, seconds; what was asked for while it has none. */
function stepOf({ frames, step_s }: Held): number {
  const first = frames[0]?.header.time_ns ?? 0;
  const last = frames.at(-1)?.header.time_ns ?? 0;
  return frames.length > 1 ? (last - first) / 1e9 / (frames.length - 1) : step_s;
}

export class RunFeed {
  private readonly roles = new Map<string, number>();
  private whole: Held;
  private wholeRead = false;
  private readonly windows: Held[] = [];
  /** What the model in use is made of, and how many of its frames it has taken in. */
  private shown: Held;
  private model: TargetModel;
  private ingested = 0;
  private span: Span;
  /** A field whose past is kept beside those that always are. */
  private field: string | null = null;
  /** By which threads have roles, before the rules of the run. */
  private ownRules: readonly RoleRule[] = [];
  private asking: AbortController | null = null;
  private asked: Wanted | null = null;
  private cancel: (() => void) | null = null;
  /** A view of what came is made soon. */
  private grows = false;

  constructor(
    private readonly run: RunSource,
    private readonly events: RunEvents,
    private readonly env: RunEnvironment,
  ) {
    this.whole = { ...wholeOf(run), frames: [], extremes: null };
    this.shown = this.whole;
    this.span = { t0_s: run.from_s, t1_s: run.to_s };
    this.model = this.freshModel();
  }

  /** Read the whole run, coarsely; the picture fills as it comes. */
  open(): void {
    const wanted = wholeOf(this.run);
    this.whole = { ...wanted, frames: [], extremes: null };
    const { whole } = this;
    this.shown = whole;
    this.model = this.freshModel();
    this.ingested = 0;
    this.events.onModel(this.model);
    void this.read(wanted, whole, () => this.grow()).then((done) => {
      if (!done) return;
      this.model.extremes = this.shown.extremes;
      this.events.onGrown();
      this.wholeRead = true;
      this.events.onOutline(outlineOf(this.run, this.whole.frames));
      this.report();
      this.settle();
    });
  }

  /** Put threads into roles by these rules, in the past too. */
  applyOwnRoles(rules: readonly RoleRule[]): void {
    this.ownRules = rules;
    this.show(this.shown);
  }

  /** This is looked at now. */
  see(span: Span): void {
    if (sameSpan(span, this.span)) return;
    this.span = span;
    if (!this.wholeRead) {
      // It failed: a person who moves the window tries again.
      if (!this.asking) this.open();
      return;
    }
    const held = this.best();
    if (held && held !== this.shown) this.show(held);
    else if (!covers(this.shown, this.run, span) && this.shown !== this.whole) this.bridge();
    else this.ingestMore();
    // Not begun again by each move: a window that is played moves all the time.
    this.cancel ??= this.env.later(() => {
      this.cancel = null;
      this.settle();
    }, SETTLED_MS);
  }

  /** Keep this field's past, too: frames are gone through once more for it. */
  keep(field: string | null): void {
    const rings: readonly string[] = RING_FIELDS;
    const kept = field === STATE_FIELD || (field !== null && rings.includes(field));
    const next = kept ? null : field;
    if (next === this.field) return;
    this.field = next;
    if (next !== null && this.wholeRead) this.show(this.shown);
  }

  close(): void {
    this.cancel?.();
    this.asking?.abort();
  }

  /** The window stands still, or has moved for a while: get what is missing. */
  private settle(): void {
    // Numbers are of the window's right end: a model that is beyond it is made again.
    const beyond = this.model.now_s > this.span.t1_s + this.shown.step_s;
    const held = this.best();
    if (held) {
      if (held !== this.shown || beyond) this.show(held);
      return;
    }
    const wanted = wantedFor(this.run, this.span);
    if (this.asked && serves(this.asked, this.run, this.span)) return; // it is on its way
    const fresh: Held = { ...wanted, frames: [], extremes: null };
    void this.read(wanted, fresh, () => undefined).then((done) => {
      if (!done) return;
      this.hold(fresh);
      // The window may have moved on meanwhile.
      this.settle();
    });
  }

  /** The finest of what is held that serves for the window; null: it must be read. */
  private best(): Held | null {
    const fit = [this.shown, ...this.windows, this.whole].filter((held) =>
      serves(held, this.run, this.span),
    );
    return fit[0] ?? null;
  }

  /** What is shown does not hold the window any more: the whole run does, if coarsely. */
  private bridge(): void {
    const wider = this.windows.find((held) => covers(held, this.run, this.span));
    this.show(wider ?? this.whole);
  }

  private hold(held: Held): void {
    this.windows.unshift(held);
    if (this.windows.length > KEPT) this.windows.pop();
  }

  private async read(wanted: Wanted, into: Held, onFrame: () => void): Promise<boolean> {
    this.asking?.abort();
    const asking = new AbortController();
    this.asking = asking;
    this.asked = wanted;
    this.report();
    let reason = "";
    const decoder = new FrameDecoder();
    try {
      const frames = this.env.read(
        addressOf(this.run, wanted),
        (bytes) => {
          try {
            into.frames.push(decoder.decode(bytes));
          } catch (error) {
            this.events.onBad(reasonOf(error));
          }
          onFrame();
        },
        asking.signal,
      );
      await Promise.all([frames, this.readExtremes(wanted, into, asking.signal)]);
    } catch (error) {
      reason = reasonOf(error);
    }
    if (asking.signal.aborted) return false;
    this.asking = null;
    this.asked = null;
    this.report(reason);
    return reason === "";
  }

  /** Ask for them beside the frames: the one is read while the other is drawn. */
  private async readExtremes(wanted: Wanted, into: Held, signal: AbortSignal): Promise<void> {
    // Finer than what the extremes are means over, frames show more than they do.
    if (wanted.raw || wanted.step_s <= OVER_S) return;
    const read = (bytes: ArrayBuffer): void => {
      into.extremes = new RateExtremes(decodeExtremes(bytes));
    };
    await this.env.read(extremesAddressOf(this.run, wanted), read, signal);
  }

  private report(reason = ""): void {
    const step_s = stepOf(this.shown);
    // Where frames are left out it is every second one at least.
    const raw = step_s < 1.5 * sampleStep(this.run);
    const state = reason !== "" ? "failed" : this.asking ? "loading" : "ready";
    this.events.onReading({ state, step_s, raw, reason });
  }

  private freshModel(): TargetModel {
    const history = new History(RING_FIELDS.length, 1, HISTORY_BYTES, Number.POSITIVE_INFINITY);
    const model = new TargetModel(history, this.roles);
    model.threads.applyRules([...this.ownRules, ...(this.run.target.role_rules ?? [])]);
    return model;
  }

  /** Use another piece, in a model of its own, up to the window's right end. */
  private show(held: Held): void {
    this.shown = held;
    this.model = this.freshModel();
    this.model.extremes = held.extremes;
    this.ingested = 0;
    const [first] = held.frames;
    if (first && first.header.time_ns > (this.whole.frames[0]?.header.time_ns ?? 0)) {
      this.remember(first);
    }
    this.advance();
    this.events.onModel(this.model);
    this.report();
  }

  /**
   * What was before the piece: counters at start of run, so that sums are the same in all windows;
   * and events, or what follows would lack the policy that steers.
   */
  private remember(first: Frame): void {
    const { model } = this;
    const [start, ...rest] = this.whole.frames;
    if (!start) return;
    model.ingest(start);
    for (const frame of rest) {
      if (frame.header.time_ns >= first.header.time_ns) break;
      model.recall(frame);
    }
    // No frames were lost in between: they are not looked at.
    const header = { ...first.header, first_seq: start.header.seq + 1, events: [] };
    model.ingest({ ...first, header });
    model.resume();
    if (this.field !== null) model.counters.keep(this.field);
    this.ingested = 1;
  }

  private ingestMore(): void {
    if (this.advance()) this.events.onGrown();
  }

  /** Take in what came of the whole run: the first is seen at once, and what follows together. */
  private grow(): void {
    const first = this.ingested === 0;
    if (!this.advance()) return;
    if (first) this.events.onGrown();
    else if (!this.grows) {
      this.grows = true;
      this.env.later(() => {
        this.grows = false;
        this.events.onGrown();
      }, GROWING_MS);
    }
  }

  /** Take frames in up to the window's right end; whether there were any. */
  private advance(): boolean {
    const { frames, step_s } = this.shown;
    const before = this.ingested;
    for (let next = frames[before]; next; next = frames[this.ingested]) {
      if (next.header.time_ns / 1e9 > this.span.t1_s + step_s / 2) break;
      this.model.ingest(next);
      this.ingested++;
      // From the first instant on; before it the model has no fields.
      if (this.field !== null && before === 0) this.model.counters.keep(this.field);
    }
    return this.ingested > before;
  }
}

/** The request for a piece. */
export function addressOf({ url }: RunSource, { t0_s, t1_s, instants }: Wanted): string {
  const query = new URLSearchParams({
    from_ns: String(Math.floor(t0_s * 1e9)),
    to_ns: String(Math.ceil(t1_s * 1e9)),
    instants: String(instants),
  });
  return `${url}?${query}`;
}

/** The request for what lies between the frames of a piece; beside them, and framed like them. */
export function extremesAddressOf({ url }: RunSource, { t0_s, t1_s }: Wanted): string {
  const query = new URLSearchParams({
    from_ns: String(Math.floor(t0_s * 1e9)),
    to_ns: String(Math.ceil(t1_s * 1e9)),
  });
  return `${url.replace(/frames$/, "extremes")}?${query}`;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
