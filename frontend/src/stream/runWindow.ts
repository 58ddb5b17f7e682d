/** Frames that a window of a run needs: number of instants, resolution, and margin. */

import type { RunManifest, Target } from "../wire/generated/models";
import type { Span } from "./window";

/**
 * A run as the worker reads it: the required part of the manifest. Times are seconds since attach.
 */
export interface RunSource {
  readonly id: string;
  /** Address of its frames, without a query. */
  readonly url: string;
  readonly target: Target;
  /** First and last instant. */
  readonly from_s: number;
  readonly to_s: number;
  /** Number of instants, and total number of rows (a thread at an instant). */
  readonly instants: number;
  readonly rows: number;
}

/**
 * The required part of a manifest.
 * @param url address of the frames, without a query.
 */
export function runSource(run: RunManifest, url: string): RunSource {
  return {
    id: run.id,
    url,
    target: run.target,
    from_s: run.from_ns / 1e9,
    to_s: run.to_ns / 1e9,
    instants: run.counts.frames,
    rows: run.counts.thread_samples,
  };
}

/** Maximum number of rows per request: some 20 MB decoded. */
const ROWS = 150_000;
const MAX_INSTANTS = 1200;
const MIN_INSTANTS = 150;
/** A held piece suffices if its resolution is within this factor of the best. */
const ENOUGH = 2.1;
/**
 * Margins to read beyond the window, as shares of its length. Room for moves, and an equally long
 * time before it for comparison.
 */
const BEFORE = 1;
const AFTER = 0.5;

/** A time span of a run, and the spacing of its instants. */
export interface Piece extends Span {
  readonly step_s: number;
  /** True if no sample of the run is skipped. */
  readonly raw: boolean;
}

/** A time span to request. */
export interface Wanted extends Piece {
  readonly instants: number;
}

/** Mean time between two samples of a run, seconds. */
export function sampleStep({ from_s, to_s, instants }: RunSource): number {
  return Math.max(1e-3, (to_s - from_s) / Math.max(1, instants - 1));
}

/** Number of instants per request, given the number of changing threads in each. */
export function instantsFor({ instants, rows }: RunSource): number {
  const each = Math.max(1, rows / Math.max(1, instants));
  return Math.round(Math.min(MAX_INSTANTS, Math.max(MIN_INSTANTS, ROWS / each)));
}

/** Request for the whole run: half the resolution of a window, because the user waits for it. */
export function wholeOf(run: RunSource): Wanted {
  return pieceOf(run, { t0_s: run.from_s, t1_s: run.to_s }, Math.ceil(instantsFor(run) / 2));
}

/** Request that is best for a window. */
export function wantedFor(run: RunSource, window: Span): Wanted {
  const width = window.t1_s - window.t0_s;
  const around = {
    t0_s: Math.max(run.from_s, window.t0_s - BEFORE * width),
    t1_s: Math.min(run.to_s, window.t1_s + AFTER * width),
  };
  // The margins share the budget of instants; otherwise a window could need more than the whole
  // run.
  return pieceOf(run, around, instantsFor(run));
}

function pieceOf(run: RunSource, { t0_s, t1_s }: Span, most: number): Wanted {
  const sample_s = sampleStep(run);
  const samples = Math.ceil((t1_s - t0_s) / sample_s) + 1;
  const raw = samples <= most;
  // Sample spacing varies: a span may contain somewhat more than the mean implies.
  const instants = raw ? Math.min(2 * most, Math.ceil(1.2 * samples) + 10) : most;
  return { t0_s, t1_s, instants, raw, step_s: raw ? sample_s : (t1_s - t0_s) / most };
}

/** Whether a held piece serves a window. */
export function serves(piece: Piece, run: RunSource, window: Span): boolean {
  const best = wantedFor(run, window);
  return covers(piece, run, window) && (piece.raw || piece.step_s <= ENOUGH * best.step_s);
}

/** Whether a piece covers the part of a window within the run. */
export function covers(piece: Span, { from_s, to_s }: RunSource, window: Span): boolean {
  const edge = 1e-6;
  return (
    piece.t0_s <= Math.max(from_s, window.t0_s) + edge &&
    piece.t1_s >= Math.min(to_s, window.t1_s) - edge
  );
}

/** Move or cut a window to fit the available range. */
export function within(window: Span, extent: Span): Span {
  const whole = extent.t1_s - extent.t0_s;
  const width = Math.min(whole, window.t1_s - window.t0_s);
  const t0_s = Math.min(Math.max(window.t0_s, extent.t0_s), extent.t1_s - width);
  return { t0_s, t1_s: t0_s + width };
}
