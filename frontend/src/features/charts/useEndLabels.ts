import { useRef } from "react";
import { endsOf, placeApart } from "../../chart/endLabels";
import { MARGIN, type Plot } from "../../chart/plot";
import type { ChartView, LineView } from "../../stream/views";
import { useSettledOrder } from "./useSettledOrder";

/** As high as a target must be to be hit. */
export const LABEL_PX = 24;
/** Labels stay while ends move by less. */
const CALM_PX = 5;
/** Narrower plots have their legend below, or need their width. */
const MIN_PLOT_PX = 240;
/** Where labels had no room, they come back after so long. */
const HELD_MS = 5000;

/** A label, and where its line ends: CSS pixels from the top of the chart. */
export interface EndLabel<T> {
  readonly of: T;
  readonly end: number;
  readonly y: number;
}

/**
 * Places of labels at the ends of lines, in an order that changes seldom; null where they have no
 * room, or some line has no end at the right edge: then it takes a legend.
 *
 * @param lineOf Line whose end is labelled.
 * @param height Of the chart, CSS pixels.
 * @param asked Differs when somebody asks for something else.
 */
export function useEndLabels<T>(
  view: ChartView | null,
  entries: readonly T[],
  lineOf: (entry: T) => LineView,
  keyOf: (entry: T) => string,
  plot: Plot | null,
  height: number,
  asked: string,
): readonly EndLabel<T>[] | null {
  const calm = useRef(new Map<string, number>());
  const shown = useRef({ asked, left_ms: Number.NEGATIVE_INFINITY, now: false });
  const found = findEnds(view, entries.map(lineOf), plot);
  const ended = entries.map((entry, place) => ({ entry, end: found?.[place] ?? 0 }));
  const ordered = useSettledOrder(
    ended.toSorted((a, b) => a.end - b.end),
    ({ entry }) => keyOf(entry),
    `${asked} ${found === null}`,
  );
  const wanted = ordered.map(({ entry, end }) => {
    const before = calm.current.get(keyOf(entry)) ?? Number.NaN;
    return Math.abs(end - before) < CALM_PX ? before : end;
  });
  const half = LABEL_PX / 2;
  const places = found && placeApart(wanted, LABEL_PX, [half, height - half]);
  const now_ms = performance.now();
  const before = shown.current;
  const left_ms = before.asked === asked ? before.left_ms : Number.NEGATIVE_INFINITY;
  if (!places || now_ms - left_ms < HELD_MS) {
    shown.current = { asked, left_ms: before.now ? now_ms : left_ms, now: false };
    return null;
  }
  shown.current = { asked, left_ms, now: true };
  calm.current = new Map(ordered.map(({ entry }, n) => [keyOf(entry), wanted[n] ?? 0]));
  return ordered.map(({ entry, end }, n) => ({ of: entry, end, y: places[n] ?? end }));
}

function findEnds(
  view: ChartView | null,
  lines: readonly LineView[],
  plot: Plot | null,
): readonly number[] | null {
  if (!view || !plot || plot.width < MIN_PLOT_PX || lines.length === 0) return null;
  return endsOf(view, lines, plot);
}

/** How far ends of lines lie left of the labels, CSS pixels. */
export const LEADER_PX = MARGIN.right - 6;
