import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import type { LiveClient } from "../model/client";
import type { ChartId } from "../model/viewRequest";
import { describeChart } from "./describe";
import type { ChartTheme } from "./palette";
import { plotSize } from "./plot";
import { ChartSurface } from "./surface";
import { useHover } from "./useHover";
import { useResize } from "./useResize";
import { useVisibility } from "./useVisibility";

/** One chart, without heading and legend. */
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

/**
 * One chart over time. React only puts it in place: views reach the surface through the client's
 * stores, without a render.
 */
export function TimeChart({ client, chart, theme, title, height = HEIGHT }: TimeChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [surface, setSurface] = useState<ChartSurface | null>(null);
  const dress = useRef(theme);
  const described_ms = useRef(Number.NEGATIVE_INFINITY);
  const store = client.chart(chart);
  const state = useSyncExternalStore(store.subscribe, () => store.get()?.state ?? "waiting");
  const width = useResize(place);
  const point = useHover(place, surface, client, chart, theme);

  const draw = useCallback(() => {
    const view = store.get();
    const now = performance.now();
    surface?.draw(view, now);
    point();
    if (now - described_ms.current >= DESCRIBE_MS || view === null) {
      described_ms.current = now;
      const text = describeChart(view, title, client.steer.get());
      place.current?.setAttribute("aria-label", text);
    }
  }, [store, surface, point, client, title]);
  const drawNext = useVisibility(place, draw);

  useEffect(() => {
    const element = place.current;
    if (!element) return undefined;
    const across = Math.max(1, element.clientWidth);
    const made = new ChartSurface(element, chart, dress.current, across, height);
    setSurface(made);
    return () => {
      made.dispose();
      setSurface(null);
    };
  }, [chart, height]);

  useEffect(() => {
    if (!surface) return undefined;
    const steer = () => surface.showSteering(client.steer.get());
    steer();
    draw();
    const ends = [store.subscribe(drawNext), client.steer.subscribe(steer)];
    return () => {
      for (const end of ends) end();
    };
  }, [surface, client, store, draw, drawNext]);

  useEffect(() => {
    dress.current = theme;
    surface?.setTheme(theme);
  }, [surface, theme]);

  useEffect(() => {
    if (width === 0) return undefined;
    surface?.resize(width);
    draw();
    return client.mountChart(chart, plotSize(width, height).width);
  }, [surface, client, chart, draw, width, height]);

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
