import { useEffect, useRef, useSyncExternalStore } from "react";
import type { LiveClient } from "../model/client";
import type { ChartId } from "../model/viewRequest";
import { describeChart } from "./describe";
import { attachGestures } from "./gestures";
import type { ChartTheme } from "./palette";
import { plotSize } from "./plot";
import { nearestLine, tooltipAt } from "./pointing";
import { steerNote } from "./steerMarks";
import { ChartSurface } from "./surface";
import { fillTooltip, placeTooltip, tooltipIn } from "./tooltip";

/** Props of `TimeChart` (charts/TimeChart.tsx): one chart, without heading and legend. */
export interface TimeChartProps {
  readonly client: LiveClient;
  readonly chart: ChartId;
  readonly theme: ChartTheme;
  /** For the text alternative, such as "CPU per thread". */
  readonly title: string;
  /** Height in CSS pixels; default 200. */
  readonly height?: number;
}

const HEIGHT = 200;
/** How often the text alternative may change: it is read, not watched. */
const DESCRIBE_MS = 2000;
/** How often a chart is drawn that is scrolled out of sight. */
const UNSEEN_MS = 1000;

/**
 * One chart over time. React only puts it in place: views reach the surface through the client's
 * stores, without a render.
 */
export function TimeChart({ client, chart, theme, title, height = HEIGHT }: TimeChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const dressed = useRef<ChartTheme>(theme);
  const surfaceRef = useRef<ChartSurface | null>(null);
  const store = client.chart(chart);
  const state = useSyncExternalStore(store.subscribe, () => store.get()?.state ?? "waiting");

  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const width = Math.max(1, element.clientWidth);
    const surface = new ChartSurface(element, chart, dressed.current, width, height);
    surfaceRef.current = surface;
    const box = tooltipIn(element);
    let unmount = client.mountChart(chart, plotSize(width, height).width);
    let described = Number.NEGATIVE_INFINITY;

    const tip = (): void => {
      const { t_s, key, chart: over } = client.hover.get();
      const view = store.get();
      const tooltip = over === chart && t_s !== null && view ? tooltipAt(view, t_s) : null;
      if (!tooltip || !view || t_s === null) {
        box.style.visibility = "hidden";
        return;
      }
      const note = steerNote(client.steer.get(), chart, surface.plot, t_s);
      fillTooltip(box, { ...tooltip, note }, view, chart, dressed.current, key);
      const { left, width: across, t0_s, t1_s } = surface.plot;
      const x = left + ((t_s - t0_s) / (t1_s - t0_s)) * across;
      placeTooltip(box, x, element.clientWidth);
    };
    let seen = true;
    let drawn = Number.NEGATIVE_INFINITY;
    const draw = (): void => {
      const view = store.get();
      const now = performance.now();
      if (!seen && now - drawn < UNSEEN_MS && view !== null) return;
      drawn = now;
      surface.draw(view, now);
      surface.point(client.hover.get());
      tip();
      if (now - described >= DESCRIBE_MS || view === null) {
        described = now;
        element.setAttribute("aria-label", describeChart(view, title, client.steer.get()));
      }
    };
    const steer = (): void => {
      surface.showSteering(client.steer.get());
      tip();
    };
    const point = (): void => {
      surface.point(client.hover.get());
      tip();
    };
    const keyAt = (x: number, y: number): string | null => {
      const view = store.get();
      if (view?.state !== "ok") return null;
      return view.lines[nearestLine(view, surface.plot, x, y)]?.key ?? null;
    };
    const observer = new ResizeObserver(() => {
      const next = Math.max(1, element.clientWidth);
      if (next === surface.plot.width + element.clientWidth - plotSize(next, height).width) return;
      surface.resize(next);
      const before = unmount;
      unmount = client.mountChart(chart, plotSize(next, height).width);
      before();
      draw();
    });
    observer.observe(element);
    const sight = new IntersectionObserver((entries) => {
      seen = entries.at(-1)?.isIntersecting ?? true;
      if (seen) draw();
    });
    sight.observe(element);
    const ends = [
      store.subscribe(draw),
      client.hover.subscribe(point),
      client.steer.subscribe(steer),
      attachGestures(element, { client, chart, surface, keyAt }),
    ];
    steer();
    draw();
    return () => {
      observer.disconnect();
      sight.disconnect();
      for (const end of ends) end();
      unmount();
      surface.dispose();
      surfaceRef.current = null;
      box.remove();
    };
  }, [client, chart, store, title, height]);

  useEffect(() => {
    dressed.current = theme;
    surfaceRef.current?.setTheme(theme);
  }, [theme]);

  return (
    <div
      ref={place}
      role="img"
      aria-label={describeChart(store.get(), title, client.steer.get())}
      data-chart={chart}
      data-state={state}
      // Its canvas must not hold the layout open when the page gets narrower.
      style={{ position: "relative", width: "100%", height, contain: "size", touchAction: "pan-y" }}
    />
  );
}
