import { act, fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, it, vi } from "vitest";
import { createStore } from "../base/store";
import type { SteerView } from "../stream/steerView";
import type { Hover, TimeWindow } from "../stream/viewRequest";
import type { ChartView } from "../stream/views";
import type { Span } from "../stream/window";
import { chart, line } from "../testing/charts";
import { DARK_CHART_THEME, LIGHT_CHART_THEME } from "./palette";
import { plotSize } from "./plot";
import { TimeChart } from "./TimeChart";

const NO_HOVER: Hover = { t_s: null, key: null, chart: null };
/** Width of every element in these tests, in CSS pixels. */
const WIDTH_PX = 1440;
const PLOT_PX = plotSize(WIDTH_PX, 200).width;
/** The middle of the plot: 5 s, and about 5 cores. */
const MIDDLE = { clientX: 62 + PLOT_PX / 2, clientY: 93, button: 0, pointerId: 1 };

/** Two threads over ten seconds: "main" at 5 cores, "idle" at none. */
function twoThreads(): ChartView {
  const times = [0, 5, 10];
  return chart(times, [
    { line: line({ key: "1@0", name: "main", last: 5 }), low: [5, 5, 5] },
    { line: line({ key: "2@0", tid: 2, name: "idle", last: 0 }), low: [0, 0, 0] },
  ]);
}

/** Render a chart over local stores; no client, no page. */
function rendered(first: ChartView | null) {
  const view = createStore<ChartView | null>(first);
  const steering = createStore<SteerView | null>(null);
  const hover = createStore<Hover>(NO_HOVER);
  const axis = createStore<Span | null>(null);
  const source = { view, steering, hover, axis };
  const unmounted = vi.fn();
  const onPlot = vi.fn((_width_px: number, _inView: boolean) => unmounted);
  const onPoint = vi.fn(hover.set);
  const onSelect = vi.fn();
  const onWindow = vi.fn();
  const window = (): TimeWindow => ({ kind: "last", seconds: 10 });
  const controls = { window, extent: null, onPoint, onSelect, onWindow };
  const inputs = { chart: "cpu", source, controls, onPlot, title: "CPU" } as const;
  const { rerender, unmount } = render(<TimeChart {...inputs} theme={LIGHT_CHART_THEME} />);
  const element = screen.getByRole("img");
  return {
    ...{ view, hover, axis, onPlot, unmounted, onPoint, onSelect, onWindow, unmount, element },
    tooltip: () => element.querySelector<HTMLElement>(".chart-tooltip"),
    darken: () => rerender(<TimeChart {...inputs} theme={DARK_CHART_THEME} />),
  };
}

describe("TimeChart", () => {
  it("says in words what its view shows, and that it waits for one", () => {
    const { view, element } = rendered(null);
    expect(element.getAttribute("aria-label")).toBe("CPU: loading.");
    expect(element.dataset.state).toBe("waiting");
    act(() => {
      vi.advanceTimersByTime(2000);
      view.set(twoThreads());
    });
    const text = "CPU, 10 s: main (1) 5.00 cores, idle (2) 0 cores.";
    expect(element.getAttribute("aria-label")).toBe(text);
    expect(element.dataset.state).toBe("ok");
  });

  it("reports the width of its plot, and that it can be seen, until it is gone", () => {
    const { onPlot, unmounted, unmount } = rendered(twoThreads());
    expect(onPlot.mock.calls).toEqual([[PLOT_PX, true]]);
    expect(unmounted).not.toHaveBeenCalled();
    unmount();
    expect(unmounted).toHaveBeenCalledOnce();
  });

  it("reports when it is scrolled out of view, and back", () => {
    let scroll: (isIntersecting: boolean) => void = () => undefined;
    class Observer {
      constructor(report: (entries: readonly { readonly isIntersecting: boolean }[]) => void) {
        scroll = (isIntersecting) => act(() => report([{ isIntersecting }]));
      }
      observe(): void {}
      disconnect(): void {}
    }
    vi.stubGlobal("IntersectionObserver", Observer);
    const { onPlot, unmounted } = rendered(twoThreads());
    scroll(false);
    expect(unmounted).toHaveBeenCalledOnce();
    expect(onPlot).toHaveBeenLastCalledWith(PLOT_PX, false);
    scroll(true);
    expect(unmounted).toHaveBeenCalledTimes(2);
    expect(onPlot).toHaveBeenLastCalledWith(PLOT_PX, true);
    vi.unstubAllGlobals();
  });

  it("reports the pointer's time and thread, and shows a tooltip there", () => {
    const { element, onPoint, tooltip } = rendered(twoThreads());
    expect(tooltip()?.style.visibility).toBe("hidden");
    fireEvent.pointerMove(element, MIDDLE);
    expect(onPoint).toHaveBeenLastCalledWith({ t_s: 5, key: "1@0", chart: "cpu" });
    expect(tooltip()?.style.visibility).not.toBe("hidden");
    expect(tooltip()?.textContent).toContain("main");
    fireEvent.pointerLeave(element);
    expect(onPoint).toHaveBeenLastCalledWith(NO_HOVER);
    expect(tooltip()?.style.visibility).toBe("hidden");
  });

  it("shows no tooltip while the pointer is in another chart", () => {
    const { hover, tooltip } = rendered(twoThreads());
    act(() => hover.set({ t_s: 5, key: "1@0", chart: "disk" }));
    expect(tooltip()?.style.visibility).toBe("hidden");
    act(() => hover.set({ t_s: 5, key: "1@0", chart: "cpu" }));
    expect(tooltip()?.style.visibility).not.toBe("hidden");
  });

  it("selects the thread that is clicked, and asks for the window that is dragged over", () => {
    const { element, onSelect, onWindow } = rendered(twoThreads());
    fireEvent.pointerDown(element, MIDDLE);
    fireEvent.pointerUp(element, MIDDLE);
    expect(onSelect.mock.calls).toEqual([["1@0"]]);
    expect(onWindow).not.toHaveBeenCalled();
    const end = { ...MIDDLE, clientX: MIDDLE.clientX + PLOT_PX / 10 };
    fireEvent.pointerDown(element, MIDDLE);
    fireEvent.pointerMove(element, end);
    fireEvent.pointerUp(element, end);
    const window = { kind: "fixed", t0_s: expect.closeTo(5), t1_s: expect.closeTo(6) };
    expect(onWindow.mock.calls).toEqual([[window]]);
    expect(onSelect).toHaveBeenCalledOnce();
  });

  it("is drawn over the axis that all charts share, whatever its view is of", async () => {
    const { axis, element, onPoint } = rendered(twoThreads());
    await act(async () => axis.set({ t0_s: -10, t1_s: 10 }));
    fireEvent.pointerMove(element, MIDDLE);
    expect(onPoint).toHaveBeenLastCalledWith({ t_s: 0, key: "1@0", chart: "cpu" });
  });

  it("takes another theme without being mounted again", () => {
    const { darken, onPlot, element, hover, tooltip } = rendered(twoThreads());
    const canvas = element.querySelector("canvas");
    darken();
    act(() => hover.set({ t_s: 5, key: null, chart: "cpu" }));
    expect(tooltip()?.style.fontFamily).toBe(DARK_CHART_THEME.font);
    expect(tooltip()?.style.background).toContain(DARK_CHART_THEME.background);
    expect(element.querySelector("canvas")).toBe(canvas);
    expect(onPlot).toHaveBeenCalledOnce();
  });
});
