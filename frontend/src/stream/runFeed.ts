/**
 * Frames of a run for the visible window. First a coarse picture of the whole run. For a finer
 * window, its frames with a margin are loaded into a fresh model; the old picture stays meanwhile.
 * A model ends at the window's right end, which its numbers refer to. It moves forward with the
 * window, and is rebuilt when the window moves back.
 */

import { type Frame, FrameDecoder } from "../wire/frame";
import type { RoleRule } from "../wire/generated/models";
import { decodeExtremes } from "../wire/runFrames";
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

/** Time without window changes before a request, in ms. */
const SETTLED_MS = 150;
/** Interval of views while a picture fills, in ms: on few CPUs both compete. */
const GROWING_MS = 250;
/** Number of windows kept, in addition to the whole run. */
const KEPT = 4;
/** Maximum memory of a model's past. */
const HISTORY_BYTES = 192 * 1024 * 1024;

/** Dependencies of the feed. */
export interface RunEnvironment {
  readonly read: (
    url: string,
    onFrame: (frame: ArrayBuffer) => void,
    signal: AbortSignal,
  ) => Promise<void>;
  readonly later: (call: () => void, ms: number) => () => void;
}

/** Callbacks of the feed. */
export interface RunEvents {
  /** Views must be computed from this model. */
  readonly onModel: (model: TargetModel) => void;
  /** The current model has received frames. */
  readonly onGrown: () => void;
  readonly onReading: (reading: Reading) => void;
  readonly onOutline: (outline: Outline) => void;
  readonly onBad: (reason: string) => void;
}

/**
 * Frames read together. `step_s` and `raw` are as requested; the answer may be coarser for a run
 * with very many rows, and a repeated request would not help.
 */
interface Held extends Piece {
  readonly frames: Frame[];
  /** Extremes of rates between the frames; null if none or unknown. */
  extremes: RateExtremes | null;
}

/** Mean time between the frames of a piece, in seconds; the requested one while empty. */
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
  /** Source of the current model, and the number of its frames already ingested. */
  private shown: Held;
  private model: TargetModel;
  private ingested = 0;
  private span: Span;
  /** Extra field with a past, in addition to the permanent ones. */
  private field: string | null = null;
  /** The user's role rules, which precede the rules of the run. */
  private ownRules: readonly RoleRule[] = [];
  private asking: AbortController | null = null;
  private asked: Wanted | null = null;
  private cancel: (() => void) | null = null;
  /** A view of new frames is scheduled. */
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

  /** Read the whole run coarsely; the picture fills as frames arrive. */
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

  /** Apply these role rules, also to the past. */
  applyOwnRoles(rules: readonly RoleRule[]): void {
    this.ownRules = rules;
    this.show(this.shown);
  }

  /** Set the visible span. */
  see(span: Span): void {
    if (sameSpan(span, this.span)) return;
    this.span = span;
    if (!this.wholeRead) {
      // The last read failed: moving the window retries.
      if (!this.asking) this.open();
      return;
    }
    const held = this.best();
    if (held && held !== this.shown) this.show(held);
    else if (!covers(this.shown, this.run, span) && this.shown !== this.whole) this.bridge();
    else this.ingestMore();
    // Not restarted by each move: the window of a playing run moves continuously.
    this.cancel ??= this.env.later(() => {
      this.cancel = null;
      this.settle();
    }, SETTLED_MS);
  }

  /** Keep an extra field's past: the frames are ingested again. */
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

  /** The window has settled, or has moved for a while: request missing frames. */
  private settle(): void {
    // Numbers refer to the window's right end: a model beyond it is rebuilt.
    const beyond = this.model.now_s > this.span.t1_s + this.shown.step_s;
    const held = this.best();
    if (held) {
      if (held !== this.shown || beyond) this.show(held);
      return;
    }
    const wanted = wantedFor(this.run, this.span);
    if (this.asked && serves(this.asked, this.run, this.span)) return; // already requested
    const fresh: Held = { ...wanted, frames: [], extremes: null };
    void this.read(wanted, fresh, () => undefined).then((done) => {
      if (!done) return;
      this.hold(fresh);
      // The window may have moved on meanwhile.
      this.settle();
    });
  }

  /** The finest held piece that serves the window; null if frames must be read. */
  private best(): Held | null {
    const fit = [this.shown, ...this.windows, this.whole].filter((held) =>
      serves(held, this.run, this.span),
    );
    return fit[0] ?? null;
  }

  /** Fall back to the coarse whole run if the current piece no longer covers the window. */
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

  /** Request extremes in parallel to the frames, so that both are ready sooner. */
  private async readExtremes(wanted: Wanted, into: Held, signal: AbortSignal): Promise<void> {
    // Frames finer than the extremes' averaging time contain more detail.
    if (wanted.raw || wanted.step_s <= OVER_S) return;
    const read = (bytes: ArrayBuffer): void => {
      into.extremes = new RateExtremes(decodeExtremes(bytes));
    };
    await this.env.read(extremesAddressOf(this.run, wanted), read, signal);
  }

  private report(reason = ""): void {
    const step_s = stepOf(this.shown);
    // If frames are skipped, at least every second one is.
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

  /** Switch to another piece, in a fresh model, up to the window's right end. */
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
   * Ingest the state before the piece. Counters at the start of the run make sums match in all
   * windows; events define the current policy.
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
    // No frames were lost in between: they were just not requested.
    const header = { ...first.header, first_seq: start.header.seq + 1, events: [] };
    model.ingest({ ...first, header });
    model.resume();
    if (this.field !== null) model.counters.keep(this.field);
    this.ingested = 1;
  }

  private ingestMore(): void {
    if (this.advance()) this.events.onGrown();
  }

  /** Ingest new frames of the whole run: the first at once, later ones in batches. */
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

  /** Ingest frames up to the window's right end; return whether there were any. */
  private advance(): boolean {
    const { frames, step_s } = this.shown;
    const before = this.ingested;
    for (let next = frames[before]; next; next = frames[this.ingested]) {
      if (next.header.time_ns / 1e9 > this.span.t1_s + step_s / 2) break;
      this.model.ingest(next);
      this.ingested++;
      // From the first instant on: an empty model has no fields.
      if (this.field !== null && before === 0) this.model.counters.keep(this.field);
    }
    return this.ingested > before;
  }
}

/** Address of the request for a piece. */
export function addressOf({ url }: RunSource, { t0_s, t1_s, instants }: Wanted): string {
  const query = new URLSearchParams({
    from_ns: String(Math.floor(t0_s * 1e9)),
    to_ns: String(Math.ceil(t1_s * 1e9)),
    instants: String(instants),
  });
  return `${url}?${query}`;
}

/**
 * Address of the request for extremes between a piece's frames; sent in parallel, with equal
 * parameters.
 */
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
