import { type ChartTheme, partStyle } from "../../chart/palette";
import type { TimePart } from "../../stream/breakdown";

/** CSS fill of a part of time, equal to the chart's bands. */
export function partFill(part: TimePart, theme: ChartTheme): string {
  const { colour, opacity, striped } = partStyle(part, theme);
  const plain = `color-mix(in srgb, ${colour} ${100 * opacity}%, transparent)`;
  if (!striped) {
    return plain;
  }
  const strong = `color-mix(in srgb, ${colour} ${Math.min(100, 300 * opacity)}%, transparent)`;
  return `repeating-linear-gradient(135deg, ${strong} 0 1.5px, ${plain} 1.5px 6px)`;
}

/** Sample of a part's fill, for legends. */
export function Swatch({ part, theme }: { readonly part: TimePart; readonly theme: ChartTheme }) {
  return (
    <span
      aria-hidden="true"
      style={{
        display: "inline-block",
        width: "1rem",
        height: "0.75rem",
        background: partFill(part, theme),
      }}
    />
  );
}
