import type { ChartTheme } from "../../chart/palette";
import { groupColours } from "../../chart/stateColours";
import { GROUP_NAMES, type StateGroup } from "../../stream/states";
import type { SpanThread } from "../../wire/generated/models";
import { ColourKeys } from "../traces/ColourKeys";
import { timeText } from "../traces/callTree";
import { guessed, isGuess, partName } from "./parts";
import styles from "./Trace.module.css";

function isGroup(reason: string): reason is StateGroup {
  return reason in GROUP_NAMES;
}

function colourOf(reason: string, theme: ChartTheme): string {
  if (isGroup(reason)) return groupColours(theme.dark)[reason];
  return `repeating-linear-gradient(135deg, ${theme.grid} 0 2px, ${theme.background} 2px 5px)`;
}

interface PartsBarProps {
  readonly thread: SpanThread;
  readonly theme: ChartTheme;
}

/** A span's own time, by its thread's activity. */
export function PartsBar({ thread, theme }: PartsBarProps) {
  const whole = thread.parts.reduce((sum, { ns }) => sum + ns, 0);
  if (whole === 0) return <span className={styles.none}>not measured</span>;
  const text = thread.parts.map(({ reason, ns }) => `${guessed(thread, reason)} ${timeText(ns)}`);
  return (
    <span className={styles.parts} role="img" aria-label={text.join(", ")} title={text.join("\n")}>
      {thread.parts.map(({ reason, ns }) => (
        <span
          key={reason}
          data-guess={isGuess(thread, reason)}
          style={{ width: `${(100 * ns) / whole}%`, background: colourOf(reason, theme) }}
        />
      ))}
    </span>
  );
}

interface PartsLegendProps {
  readonly rows: readonly SpanThread[];
  readonly theme: ChartTheme;
}

/** Legend of the parts that occur in any span. */
export function PartsLegend({ rows, theme }: PartsLegendProps) {
  const sums = new Map<string, number>();
  for (const { reason, ns } of rows.flatMap(({ parts }) => parts)) {
    sums.set(reason, (sums.get(reason) ?? 0) + ns);
  }
  if (sums.size === 0) return null;
  const keys = [...sums]
    .sort((a, b) => b[1] - a[1])
    .map(([reason, ns]) => ({
      ground: colourOf(reason, theme),
      text: `${partName(reason)} ${timeText(ns)}`,
    }));
  return <ColourKeys label="What threads did" keys={keys} />;
}
