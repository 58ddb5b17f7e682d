import { BarChart, CustomChart, LineChart } from "echarts/charts";
import { GridComponent, MarkLineComponent, TooltipComponent } from "echarts/components";
import { type ECharts, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useRef } from "react";
import type { ChartTheme } from "../../chart/palette";
import { useResize } from "../../chart/useResize";
import type { ExperimentChart } from "../../wire/generated/models";
import { describeChart, experimentOption } from "./experimentOption";

use([
  BarChart,
  CustomChart,
  LineChart,
  GridComponent,
  MarkLineComponent,
  TooltipComponent,
  CanvasRenderer,
]);

interface ExperimentFigureProps {
  readonly chart: ExperimentChart;
  /** See `seriesNames`. */
  readonly names: readonly string[];
  readonly theme: ChartTheme;
  readonly height: number;
}

/** A chart of an experiment: means with their intervals. */
export function ExperimentFigure({ chart, names, theme, height }: ExperimentFigureProps) {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<ECharts | null>(null);
  const width = useResize(place);
  useEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const made = init(element, null, { renderer: "canvas" });
    drawn.current = made;
    return () => {
      made.dispose();
      drawn.current = null;
    };
  }, []);
  useEffect(() => {
    if (width === 0) return;
    drawn.current?.resize();
    const option = experimentOption(chart, theme, names, width);
    drawn.current?.setOption(option, { notMerge: true });
  }, [chart, names, theme, width]);
  return (
    <div
      ref={place}
      role="img"
      aria-label={describeChart(chart)}
      style={{ width: "100%", height, contain: "size" }}
    />
  );
}
