import { type RefObject, useCallback, useEffect, useRef } from "react";
import type { Readable } from "../base/store";
import type { SteerView } from "../stream/steerView";
import type { ChartId, Hover } from "../stream/viewRequest";
import type { ChartView } from "../stream/views";
import type { Span } from "../stream/window";
import { attachGestures, type ChartControls } from "./gestures";
import type { ChartTheme } from "./palette";
import { peaksNote } from "./peaks";
import { xOf } from "./plot";
import { nearestLine, tooltipAt } from "./pointing";
import { steerNote } from "./steerMarks";
import type { ChartSurface } from "./surface";
import { fillTooltip, placeTooltip, tooltipIn } from "./tooltip";

/** What a chart shows: stores it reads and never sets. */
export interface ChartSource {
  readonly view: Readable<ChartView | null>;
  readonly steering: Readable<SteerView | null>;
  /** The pointer, shared by all charts. */
  readonly hover: Readable<Hover>;
  /** Ends of the time axis that all charts share; null: each has that of its view. */
  readonly axis: Readable<Span | null>;
}

/**
 * The shared pointer over a chart: gestures, crosshair and tooltip.
 *
 * @returns Puts crosshair and tooltip where they belong after a drawing; stable.
 */
export function useHover(
  place: RefObject<HTMLElement | null>,
  surface: ChartSurface | null,
  chart: ChartId,
  source: ChartSource,
  controls: ChartControls,
  theme: ChartTheme,
): () => void {
  const box = useRef<HTMLElement | null>(null);
  const dress = useRef(theme);
  dress.current = theme;

  const point = useCallback(() => {
    const element = place.current;
    if (!surface || !element || !box.current) return;
    const hover = source.hover.get();
    surface.point(hover);
    const { t_s, key, chart: over } = hover;
    const view = source.view.get();
    const tooltip = over === chart && t_s !== null && view ? tooltipAt(view, t_s) : null;
    if (!tooltip || !view || t_s === null) {
      box.current.style.visibility = "hidden";
      return;
    }
    const steered = steerNote(source.steering.get(), chart, surface.plot, t_s);
    const note = steered ?? peaksNote(view);
    fillTooltip(box.current, { ...tooltip, note }, view, chart, dress.current, key);
    placeTooltip(box.current, xOf(surface.plot, t_s), element.clientWidth);
  }, [place, surface, chart, source]);

  useEffect(() => {
    const element = place.current;
    if (!element || !surface) return undefined;
    const made = tooltipIn(element);
    box.current = made;
    const keyAt = (x: number, y: number): string | null => {
      const view = source.view.get();
      if (view?.state !== "ok") return null;
      return view.lines[nearestLine(view, surface.plot, x, y)]?.key ?? null;
    };
    const ends = [
      source.hover.subscribe(point),
      source.steering.subscribe(point),
      attachGestures(element, { controls, chart, surface, keyAt }),
    ];
    return () => {
      for (const end of ends) end();
      made.remove();
      box.current = null;
    };
  }, [place, surface, chart, source, controls, point]);
  return point;
}
