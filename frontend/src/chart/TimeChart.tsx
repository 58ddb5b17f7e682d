/**
 * Folder `chart`: finished views of the worker in, canvases out. It must not know requests, pages
 * or features.
 */

import {
  type RefObject,
  useCallback,
  useEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from "react";
import { createStore, type Readable, type Writable } from "../base/store";
import type { SteerView } from "../stream/steerView";
import type { ChartId, Hover } from "../stream/viewRequest";
import type { ChartView } from "../stream/views";
import type { Span } from "../stream/window";
import { describeChart } from "./describe";
import { attachGestures, type ChartControls } from "./gestures";
import type { ChartTheme } from "./palette";
import { type Plot, plotSize, xOf } from "./plot";
import { steerNote } from "./steerMarks";
import { ChartSurface } from "./surface";
import { fillTooltip, nearestLine, peaksNote, placeTooltip, tooltipAt, tooltipIn } from "./tooltip";
import { useResize, useVisibility } from "./useResize";

/** One chart, without heading and legend. */
export interface TimeChartProps {
  /** Chart ID: selects line styles, and whether its tooltip is shown. */
  readonly chart: ChartId;
  /**
   * Stores of the chart; stable while they are the same. Another object is another chart to draw.
   */
  readonly source: ChartSource;
  /** Stable while its functions are the same. */
  readonly controls: ChartControls;
  /**
   * Called with the plot's width in CSS pixels and its visibility; returns the clean-up function.
   * Stable.
   */
  readonly onPlot: (width_px: number, inView: boolean) => () => void;
  readonly theme: ChartTheme;
  /** Title for the text alternative, such as "CPU per thread". */
  readonly title: string;
  /** Height in CSS pixels; default 200. */
  readonly height?: number;
  /** Positions of line ends, for labels beside the chart. */
  readonly ends?: ChartEnds;
}

/** State shared by a chart and the labels at its line ends. */
export interface ChartEnds {
  /** The last drawn plot, or null before the first drawing. */
  readonly plot: Writable<Plot | null>;
  /** Each line has its label: the chart names none. */
  readonly labelled: Writable<boolean>;
}

export function chartEnds(): ChartEnds {
  return { plot: createStore<Plot | null>(null), labelled: createStore(false) };
}

const HEIGHT = 200;
/** Minimum time between changes of the text alternative, in ms: screen readers read it aloud. */
const DESCRIBE_MS = 2000;

/**
 * One chart over time. React only places the chart: views reach the surface through stores, without
 * a render.
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
    // A chart whose view arrives together with the axis is already drawn.
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
        // The canvas must not keep the layout wide when the page gets narrower.
        contain: "size",
        // An invisible chart needs no browser layers, except for printing and searching.
        contentVisibility: inView ? "visible" : "auto",
      }}
    />
  );
}

/** Stores that a chart reads and never sets. */
interface ChartSource {
  readonly view: Readable<ChartView | null>;
  readonly steering: Readable<SteerView | null>;
  /** The pointer, shared by all charts. */
  readonly hover: Readable<Hover>;
  /** Ends of the time axis shared by all charts; null if each chart uses its view's. */
  readonly axis: Readable<Span | null>;
}

/**
 * The shared pointer over a chart: gestures, crosshair and tooltip.
 * @returns Function that repositions crosshair and tooltip after a drawing; stable.
 */
function useHover(
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
