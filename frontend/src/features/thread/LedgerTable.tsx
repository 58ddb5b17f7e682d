import type { ChartTheme } from "../../chart/palette";
import { formatValue } from "../../stream/format";
import type { ThreadView } from "../../stream/threadView";
import { partName } from "../../stream/timeParts";
import { Swatch } from "../times/Swatch";
import styles from "./LedgerTable.module.css";

interface LedgerTableProps {
  readonly view: ThreadView;
  readonly span: "window" | "total";
  readonly theme: ChartTheme;
}

/** The time of a thread in each state; what it adds up to stands beside the clock. */
export function LedgerTable({ view, span, theme }: LedgerTableProps) {
  const { sum_ns, wall_ns } = view[span];
  const which = span === "window" ? "window_ns" : "total_ns";
  return (
    <table className={styles.ledger} data-ledger={span}>
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Seconds</th>
          <th scope="col">Share</th>
        </tr>
      </thead>
      <tbody>
        {view.rows.map((row) => (
          <tr key={row.part} data-part={row.part} data-idle={row.idle}>
            <th scope="row">
              <Swatch part={row.part} theme={theme} />
              <span>{partName(row.part)}</span>
            </th>
            <td>{secondsText(row[which])}</td>
            <td>{formatValue(row[which] / (sum_ns || 1), "share")}</td>
          </tr>
        ))}
      </tbody>
      <tfoot>
        <tr data-sum={sum_ns}>
          <th scope="row">Sum</th>
          <td>{secondsText(sum_ns)}</td>
          <td />
        </tr>
        <tr data-wall={wall_ns}>
          <th scope="row">Wall time</th>
          <td>{secondsText(wall_ns)}</td>
          <td />
        </tr>
        <tr data-difference={sum_ns - wall_ns}>
          <th scope="row">Difference</th>
          <td colSpan={2} className={styles.difference}>
            {nanosecondsText(sum_ns - wall_ns)}
          </td>
        </tr>
      </tfoot>
    </table>
  );
}

/** Whole microseconds, so that what is shown can be added up. */
function secondsText(ns: number): string {
  return (ns / 1e9).toFixed(6);
}

function nanosecondsText(ns: number): string {
  const digits = Math.abs(Math.round(ns)).toLocaleString("en-US").replaceAll(",", "\u202f");
  return `${ns < 0 ? "−" : ""}${digits} ns`;
}
