import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from "react";
import { createStore, type Writable } from "../base/store";
import type { ChartId } from "../stream/viewRequest";
import { describeChart } from "./describe";
import type { ChartControls } from "./gestures";
import type { ChartTheme } from "./palette";
import { type Plot, plotSize } from "./plot";
import { ChartSurface } from "./surface";
import { type ChartSource, useHover } from "./useHover";
import { useResize } from "./useResize";
import { useVisibility } from "./useVisibility";

/** One chart, without heading and legend. */
export interface TimeChartProps {
  /** Which chart it is: how its lines look, and whose tooltip is shown. */
  readonly chart: ChartId;
  /** The same object as long as its stores are: another one is another chart to draw. */
  readonly source: ChartSource;
  /** The same object as long as its functions are. */
  readonly controls: ChartControls;
  /**
   * The plot is on the page this wide, CSS pixels, and can be seen or not; returns what is called
   * when that is no longer so. Stable.
   */
  readonly onPlot: (width_px: number, inView: boolean) => () => void;
  readonly theme: ChartTheme;
  /** For the text alternative, such as "CPU per thread". */
  readonly title: string;
  /** Height in CSS pixels; default 200. */
  readonly height?: number;
  /** Where its lines end, for labels beside it. */
  readonly ends?: ChartEnds;
}

/** What a chart and the labels at the ends of its lines know of each other. */
export interface ChartEnds {
  /** The plot as it was drawn last; null before that. */
  readonly plot: Writable<Plot | null>;
  /** Each line has its label: the chart names none. */
  readonly labelled: Writable<boolean>;
}

export function chartEnds(): ChartEnds {
  return { plot: createStore<Plot | null>(null), labelled: createStore(false) };
}

const HEIGHT = 200;
/** How often the text alternative may change: it is read, not watched. */
const DESCRIBE_MS = 2000;

/**
 * One chart over time. React only puts it in place: views reach the surface through stores,
 * without a render.
 */
export function TimeChart({
  chart,
  source,
  controls,
  onPlot,
  theme,
  title,
  height = HEIGHT,
  ends,
}: TimeChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [surface, setSurface] = useState<ChartSurface | null>(null);
  const dress = useRef(theme);
  const described_ms = useRef(Number.NEGATIVE_INFINITY);
  const { view: store, steering, axis } = source;
  const state = useSyncExternalStore(store.subscribe, () => store.get()?.state ?? "waiting");
  const width = useResize(place);
  const inView = useVisibility(place);
  const point = useHover(place, surface, chart, source, controls, theme);

  const draw = useCallback(() => {
    const view = store.get();
    const now = performance.now();
    surface?.draw(view, now, axis.get(), !ends?.labelled.get());
    if (surface && ends) ends.plot.set(surface.plot);
    point();
    if (now - described_ms.current >= DESCRIBE_MS || view === null) {
      described_ms.current = now;
      const text = describeChart(view, title, steering.get());
      place.current?.setAttribute("aria-label", text);
    }
  }, [store, surface, point, steering, title, axis, ends]);

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
    const steer = () => surface.showSteering(steering.get());
    steer();
    draw();
    // A chart whose own view comes with the axis is drawn by then.
    const follow = () =>
      queueMicrotask(() => {
        if (!surface.spans(axis.get())) draw();
      });
    const stops = [
      store.subscribe(draw),
      steering.subscribe(steer),
      axis.subscribe(follow),
      ...(ends ? [ends.labelled.subscribe(draw)] : []),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }, [surface, steering, store, axis, ends, draw]);

  useEffect(() => {
    dress.current = theme;
    surface?.setTheme(theme);
  }, [surface, theme]);

  useEffect(() => {
    if (width === 0) return undefined;
    surface?.resize(width);
    draw();
    return undefined;
  }, [surface, draw, width]);

  useEffect(
    () => (width === 0 ? undefined : onPlot(plotSize(width, height).width, inView)),
    [onPlot, width, height, inView],
  );

  return (
    <div
      ref={place}
      role="img"
      aria-label={describeChart(store.get(), title, steering.get())}
      data-chart={chart}
      data-state={state}
      style={{
        ...{ position: "relative", width: "100%", height, touchAction: "pan-y" },
        // Its canvas must not hold the layout open when the page gets narrower.
        contain: "size",
        // Out of view the browser need not hold its layers, unless it is printed or searched.
        contentVisibility: inView ? "visible" : "auto",
      }}
    />
  );
}
