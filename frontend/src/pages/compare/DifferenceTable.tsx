import { useMemo } from "react";
import { SegmentedControl } from "../../ui/SegmentedControl";
import { Tooltip } from "../../ui/Tooltip";
import type { ComparedMetric, FigureDifference, GroupFigure } from "../../wire/generated/models";
import shared from "./ComparePage.module.css";
import styles from "./DifferenceTable.module.css";
import {
  barOf,
  differenceText,
  figureText,
  percentText,
  rowsOf,
  type Verdict,
  verdictOf,
} from "./differences";
import type { PartProps, RowOrder, RowScope } from "./link";

const SCOPES: readonly { readonly value: RowScope; readonly label: string }[] = [
  { value: "process", label: "Whole process" },
  { value: "roles", label: "Roles" },
];
const ORDERS: readonly { readonly value: RowOrder; readonly label: string }[] = [
  { value: "given", label: "In order" },
  { value: "size", label: "Largest first" },
  { value: "metric", label: "By metric" },
];

/** Each figure of each group, and how the groups differ from the first one. */
export function DifferenceTable({ link, comparison, onLink }: PartProps) {
  const { groups, metrics, confidence } = comparison;
  const rows = useMemo(
    () => rowsOf(metrics, link.rows, link.filter, link.order),
    [metrics, link.rows, link.filter, link.order],
  );
  const [first, ...others] = groups;
  return (
    <section className={shared.panel} aria-label="Differences">
      <header className={shared.panelHead}>
        <h2>Differences</h2>
        <label>
          <span className="visually-hidden">Filter the differences</span>
          <input
            type="search"
            data-search
            className={styles.filter}
            placeholder="Metric or role"
            value={link.filter}
            onChange={(event) => onLink({ ...link, filter: event.target.value })}
          />
        </label>
        <SegmentedControl
          label="Figures of"
          value={link.rows}
          choices={SCOPES}
          onChange={(rows) => onLink({ ...link, rows })}
        />
        <SegmentedControl
          label="Order"
          value={link.order}
          choices={ORDERS}
          onChange={(order) => onLink({ ...link, order })}
        />
        <span className={shared.hint}>{confidence}</span>
      </header>
      {rows.length === 0 ? (
        <p className={shared.none}>No figure fits the filter.</p>
      ) : (
        <div className={shared.scroll}>
          <table className={`${shared.table} ${styles.table}`}>
            <thead>
              <tr>
                <th scope="col">Figure</th>
                <th scope="col" className={shared.number}>
                  {first?.label}
                </th>
                {others.map(({ label, runs }) => (
                  <th key={runs.join()} scope="col" colSpan={3} className={styles.against}>
                    {label} <span className={styles.held}>against {first?.label}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row key={`${row.metric} ${row.role ?? ""}`} row={row} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Row({ row }: { readonly row: ComparedMetric }) {
  const [first, ...others] = row.groups;
  return (
    <tr data-metric={row.metric} data-role={row.role ?? ""}>
      <th scope="row" className={styles.figure}>
        {row.label} {row.role === null ? null : <span className={styles.role}>{row.role}</span>}
      </th>
      <td className={shared.number}>
        <Figure row={row} figure={first} />
      </td>
      {others.map((figure, index) => (
        <Against
          // Groups have no other name here than their place.
          key={String(index)}
          row={row}
          figure={figure}
          difference={row.differences[index]}
        />
      ))}
    </tr>
  );
}

interface FigureProps {
  readonly row: ComparedMetric;
  readonly figure: GroupFigure | undefined;
}

function Figure({ row, figure }: FigureProps) {
  if (figure === undefined || figure.mean === null) {
    return <>–</>;
  }
  const values = figure.values.map((value) => figureText(row, value)).join(", ");
  return (
    <Tooltip text={figure.n > 1 ? `Each run: ${values}` : null}>
      {figureText(row, figure.mean)}
      {figure.std_dev === null ? null : (
        <span className={styles.spread}> ± {figureText(row, figure.std_dev)}</span>
      )}
    </Tooltip>
  );
}

interface AgainstProps extends FigureProps {
  readonly difference: FigureDifference | undefined;
}

function Against({ row, figure, difference }: AgainstProps) {
  const verdict = difference === undefined ? null : verdictOf(row, difference);
  return (
    <>
      <td className={`${shared.number} ${styles.start}`}>
        <Figure row={row} figure={figure} />
      </td>
      <td className={shared.number}>
        {difference === undefined || difference.absolute === null ? (
          "–"
        ) : (
          <>
            {percentText(difference.percent)}
            <span className={styles.spread}> {differenceText(row, difference.absolute)}</span>
          </>
        )}
      </td>
      <td className={styles.judged}>
        {verdict === null || difference === undefined ? null : (
          <>
            <VerdictWord verdict={verdict} />
            <IntervalBar row={row} difference={difference} />
          </>
        )}
      </td>
    </>
  );
}

function VerdictWord({ verdict }: { readonly verdict: Verdict }) {
  const { word, arrow, sure } = verdict;
  const judged = word === "better" || word === "worse";
  return (
    <Tooltip
      text={judged && !sure ? "One run a side: it may be chance. Repeats would tell." : null}
    >
      <span className={styles.verdict} data-verdict={word} data-sure={sure}>
        <span aria-hidden="true">{arrow}</span> {word}
        {judged && !sure ? <span className={styles.unsure}>?</span> : null}
      </span>
    </Tooltip>
  );
}

interface IntervalBarProps {
  readonly row: ComparedMetric;
  readonly difference: FigureDifference;
}

/** The 95 % interval of a difference, around 0. */
function IntervalBar({ row, difference }: IntervalBarProps) {
  const bar = barOf(difference);
  if (bar === null) {
    return null;
  }
  const text = `95 % interval (Welch): ${differenceText(row, difference.low)} to ${differenceText(row, difference.high)}`;
  return (
    <Tooltip text={text}>
      <svg className={styles.bar} viewBox="0 0 100 12" role="img" aria-label={text}>
        <path className={styles.zero} d="M50,0V12" />
        <path
          className={styles.interval}
          d={`M${100 * bar.from},6H${100 * bar.to}M${100 * bar.from},3V9M${100 * bar.to},3V9`}
        />
        <circle className={styles.at} cx={100 * bar.at} cy="6" r="2.5" />
      </svg>
    </Tooltip>
  );
}
