import { sharesOf } from "../../chart/describe";
import { Marker } from "../../chart/Marker";
import type { ChartTheme } from "../../chart/palette";
import { colourStyle } from "../../chart/palette";
import { formatValue } from "../../stream/format";
import { partName, TIME_PARTS } from "../../stream/timeParts";
import type { ThreadKey } from "../../stream/viewRequest";
import type { TimesRow } from "../../stream/views";
import { partFill } from "./Swatch";
import styles from "./TimesPanel.module.css";

interface RoleBarProps {
  readonly row: TimesRow;
  readonly theme: ChartTheme;
  readonly selected: boolean;
  readonly onSelect: (key: ThreadKey) => void;
}

/** Where the time of a role's threads went, as one bar; a press selects the role everywhere. */
export function RoleBar({ row, theme, selected, onSelect }: RoleBarProps) {
  const { parts, wall_s } = row;
  const shown = TIME_PARTS.filter((part) => parts[part] > 0);
  return (
    <li data-role={row.name}>
      <button
        type="button"
        className={styles.role}
        aria-pressed={selected}
        title={`${sharesOf(row)} of ${formatValue(wall_s, "s")} of thread time`}
        onClick={() => onSelect(row.key)}
      >
        <Marker style={colourStyle(row.colour, theme)} />
        <span className={styles.roleName}>{row.name}</span>
        <span className={styles.count}>×{row.threads}</span>
        <span className={styles.bar} aria-hidden="true">
          {shown.map((part) => (
            <span
              key={part}
              data-part={part}
              title={`${partName(part)} ${formatValue(parts[part] / wall_s, "share")}`}
              style={{ flexGrow: parts[part], background: partFill(part, theme) }}
            />
          ))}
        </span>
        <span className={styles.words}>{sharesOf(row)}</span>
      </button>
    </li>
  );
}
