import type { ChartTheme } from "../../chart/palette";
import { runStyle } from "./curvesOption";

/** Sample of a run's line, for a legend. */
export function RunSample({
  index,
  theme,
}: {
  readonly index: number;
  readonly theme: ChartTheme;
}) {
  const { colour, dash, width } = runStyle(index, theme);
  return (
    <svg width="30" height="10" viewBox="0 0 30 10" aria-hidden="true" style={{ flex: "none" }}>
      <path
        d="M0,5H30"
        stroke={colour}
        strokeWidth={width}
        strokeDasharray={dash.join(" ")}
        fill="none"
      />
    </svg>
  );
}
