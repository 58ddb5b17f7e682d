import { useMemo } from "react";
import type { TimeChartProps } from "../../chart/TimeChart";
import { useLiveClient } from "../../stream/clients";
import type { ChartId } from "../../stream/viewRequest";

/** What a chart of the followed target or run shows, and what its gestures do. */
export function useChartInputs(
  chart: ChartId,
): Pick<TimeChartProps, "chart" | "source" | "controls" | "onPlot"> {
  const client = useLiveClient();
  return useMemo(
    () => ({
      chart,
      source: {
        view: client.chart(chart),
        steering: client.steer,
        hover: client.hover,
        axis: client.axis,
      },
      controls: {
        window: () => client.view.get().window,
        extent: client.extent,
        onPoint: client.hover.set,
        onSelect: client.select,
        onWindow: (window) => client.request({ window }),
      },
      onPlot: (width_px, inView) => client.mountChart(chart, width_px, inView),
    }),
    [client, chart],
  );
}
