import { LineChart } from "echarts/charts";
import { GridComponent, TooltipComponent } from "echarts/components";
import { connect, type ECharts, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useRef } from "react";
import type { ChartTheme } from "../../chart/palette";
import { type CurvesView, curvesOption, describeCurves } from "./curvesOption";

use([LineChart, GridComponent, TooltipComponent, CanvasRenderer]);

interface RunCurvesProps {
  readonly view: CurvesView;
  readonly theme: ChartTheme;
  readonly title: string;
  readonly height: number;
}

/** Charts on one page point at the same moment. */
const GROUP = "compare";

/** Curves of runs; these do not grow, so ECharts draws all of it. */
export function RunCurves({ view, theme, title, height }: RunCurvesProps) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = init(element, null, { renderer: "canvas" });
    chart.current = made;
    made.group = GROUP;
    connect(GROUP);
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(element);
    return () => {
      observer.disconnect();
      made.dispose();
      chart.current = null;
    };
  }, []);
  useEffect(() => {
    chart.current?.setOption(curvesOption(view, theme), { notMerge: true });
  }, [view, theme]);
  return (
    <div
      ref={place}
      role="img"
      aria-label={describeCurves(view, title)}
      style={{ width: "100%", height, contain: "size" }}
    />
  );
}
