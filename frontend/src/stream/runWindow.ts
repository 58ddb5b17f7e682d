/** Which frames of a run a window needs: how many instants, how finely, and with what margin. */

import type { Target } from "../wire/generated/models";
import type { Span } from "./window";

/** A run as the worker reads it: what it needs of the manifest. Times are seconds since attach. */
export interface RunSource {
  readonly id: string;
  /** Address of its frames, without a query. */
  readonly url: string;
  readonly target: Target;
  /** Its first instant and its last. */
  readonly from_s: number;
  readonly to_s: number;
  /** Instants that it holds, and rows (a thread at an instant) of all of them. */
  readonly instants: number;
  readonly rows: number;
}

/** Rows that are read at once: some 20 MB decoded. */
const ROWS = 150_000;
const MAX_INSTANTS = 1200;
const MIN_INSTANTS = 150;
/** What is there will do if it is no coarser than so many times what would be best. */
const ENOUGH = 2.1;
/**
 * Read beyond the window, as parts of its length: room to move, and before it an equally long time to
 * compare it with.
 */
const BEFORE = 1;
const AFTER = 0.5;

/** A stretch of a run, and the distance of instants in it. */
export interface Piece extends Span {
  readonly step_s: number;
  /** Each sample of the run is in it. */
  readonly raw: boolean;
}

/** A stretch to ask for. */
export interface Wanted extends Piece {
  readonly instants: number;
}

/** Mean time between two samples of a run, seconds. */
export function sampleStep({ from_s, to_s, instants }: RunSource): number {
  return Math.max(1e-3, (to_s - from_s) / Math.max(1, instants - 1));
}

/** Instants that can be read at once, by how many threads move in each. */
export function instantsFor({ instants, rows }: RunSource): number {
  const each = Math.max(1, rows / Math.max(1, instants));
  return Math.round(Math.min(MAX_INSTANTS, Math.max(MIN_INSTANTS, ROWS / each)));
}

/** The whole run at once: half as fine as a window would be, for it is what a person waits for. */
export function wholeOf(run: RunSource): Wanted {
  return pieceOf(run, { t0_s: run.from_s, t1_s: run.to_s }, Math.ceil(instantsFor(run) / 2));
}

/** What a window should be drawn of. */
export function wantedFor(run: RunSource, window: Span): Wanted {
  const width = window.t1_s - window.t0_s;
  const around = {
    t0_s: Math.max(run.from_s, window.t0_s - BEFORE * width),
    t1_s: Math.min(run.to_s, window.t1_s + AFTER * width),
  };
  // The margins take a part of the instants, or a window would need more than one that is whole.
  return pieceOf(run, around, instantsFor(run));
}

function pieceOf(run: RunSource, { t0_s, t1_s }: Span, most: number): Wanted {
  const sample_s = sampleStep(run);
  const samples = Math.ceil((t1_s - t0_s) / sample_s) + 1;
  const raw = samples <= most;
  // Samples are not quite evenly spaced: some more than the mean says may lie in a stretch.
  const instants = raw ? Math.min(2 * most, Math.ceil(1.2 * samples) + 10) : most;
  return { t0_s, t1_s, instants, raw, step_s: raw ? sample_s : (t1_s - t0_s) / most };
}

/** Whether a piece that is held serves for a window. */
export function serves(piece: Piece, run: RunSource, window: Span): boolean {
  const best = wantedFor(run, window);
  return covers(piece, run, window) && (piece.raw || piece.step_s <= ENOUGH * best.step_s);
}

/** Whether a piece holds all of a window that the run has. */
export function covers(piece: Span, { from_s, to_s }: RunSource, window: Span): boolean {
  const edge = 1e-6;
  return (
    piece.t0_s <= Math.max(from_s, window.t0_s) + edge &&
    piece.t1_s >= Math.min(to_s, window.t1_s) - edge
  );
}

/** A window moved, or cut, so that it lies within what there is. */
export function within(window: Span, extent: Span): Span {
  const whole = extent.t1_s - extent.t0_s;
  const width = Math.min(whole, window.t1_s - window.t0_s);
  const t0_s = Math.min(Math.max(window.t0_s, extent.t0_s), extent.t1_s - width);
  return { t0_s, t1_s: t0_s + width };
}
