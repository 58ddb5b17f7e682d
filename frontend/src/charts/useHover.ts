import { type RefObject, useCallback, useEffect, useRef } from "react";
import type { LiveClient } from "../model/client";
import type { ChartId } from "../model/viewRequest";
import { attachGestures } from "./gestures";
import type { ChartTheme } from "./palette";
import { xOf } from "./plot";
import { nearestLine, tooltipAt } from "./pointing";
import { steerNote } from "./steerMarks";
import type { ChartSurface } from "./surface";
import { fillTooltip, placeTooltip, tooltipIn } from "./tooltip";

/**
 * The shared pointer over a chart: gestures, crosshair and tooltip.
 *
 * @returns Puts crosshair and tooltip where they belong after a drawing; stable.
 */
export function useHover(
  place: RefObject<HTMLElement | null>,
  surface: ChartSurface | null,
  client: LiveClient,
  chart: ChartId,
  theme: ChartTheme,
): () => void {
  const box = useRef<HTMLElement | null>(null);
  const dress = useRef(theme);
  dress.current = theme;

  const point = useCallback(() => {
    const element = place.current;
    if (!surface || !element || !box.current) return;
    const hover = client.hover.get();
    surface.point(hover);
    const { t_s, key, chart: over } = hover;
    const view = client.chart(chart).get();
    const tooltip = over === chart && t_s !== null && view ? tooltipAt(view, t_s) : null;
    if (!tooltip || !view || t_s === null) {
      box.current.style.visibility = "hidden";
      return;
    }
    const note = steerNote(client.steer.get(), chart, surface.plot, t_s);
    fillTooltip(box.current, { ...tooltip, note }, view, chart, dress.current, key);
    placeTooltip(box.current, xOf(surface.plot, t_s), element.clientWidth);
  }, [place, surface, client, chart]);

  useEffect(() => {
    const element = place.current;
    if (!element || !surface) return undefined;
    const made = tooltipIn(element);
    box.current = made;
    const keyAt = (x: number, y: number): string | null => {
      const view = client.chart(chart).get();
      if (view?.state !== "ok") return null;
      return view.lines[nearestLine(view, surface.plot, x, y)]?.key ?? null;
    };
    const ends = [
      client.hover.subscribe(point),
      client.steer.subscribe(point),
      attachGestures(element, { client, chart, surface, keyAt }),
    ];
    return () => {
      for (const end of ends) end();
      made.remove();
      box.current = null;
    };
  }, [place, surface, client, chart, point]);
  return point;
}
