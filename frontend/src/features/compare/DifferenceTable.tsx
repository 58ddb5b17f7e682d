import { useMemo } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/palette";
import { SegmentedControl } from "../../ui/Controls";
import { Tooltip } from "../../ui/Overlays";
import type {
  CompareBasis,
  ComparedMetric,
  Comparison,
  FigureDifference,
  GroupFigure,
} from "../../wire/generated/models";
import shared from "./ComparePage.module.css";
import styles from "./DifferenceTable.module.css";
import {
  barOf,
  differenceText,
  figureText,
  halfWidth,
  PROVENANCE_TEXTS,
  percentText,
  rowsOf,
  signOf,
  VERDICTS,
  zeroRows,
} from "./differences";
import { RunSample } from "./Groups";
import type { PartProps, RowOrder, RowScope } from "./link";
import { RoleName } from "./RoleMatching";

const BASES: readonly { readonly value: CompareBasis; readonly label: string }[] = [
  { value: "rates", label: "Rates" },
  { value: "totals", label: "Totals" },
];
const SCOPES: readonly { readonly value: RowScope; readonly label: string }[] = [
  { value: "process", label: "Whole process" },
  { value: "roles", label: "Roles" },
];
const SPLIT: { readonly value: RowScope; readonly label: string } = {
  value: "split",
  label: "Roles by process",
};
const ORDERS: readonly { readonly value: RowOrder; readonly label: string }[] = [
  { value: "given", label: "In order" },
  { value: "size", label: "Largest first" },
  { value: "metric", label: "By metric" },
];

/** The figures of each group, and their differences from the baseline. */
export function DifferenceTable({ link, comparison, onLink }: PartProps) {
  const { groups, metrics, confidence } = comparison;
  const rows = useMemo(
    () => rowsOf(metrics, link.rows, link.filter, link.order),
    [metrics, link.rows, link.filter, link.order],
  );
  const zeros = useMemo(() => zeroRows(metrics), [metrics]);
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
          label="Compare"
          value={link.basis}
          choices={BASES}
          onChange={(basis) => onLink({ ...link, basis })}
        />
        <SegmentedControl
          label="Figures of"
          value={link.rows}
          choices={comparison.several_processes ? [...SCOPES, SPLIT] : SCOPES}
          onChange={(rows) => onLink({ ...link, rows })}
        />
        <SegmentedControl
          label="Order"
          value={link.order}
          choices={ORDERS}
          onChange={(order) => onLink({ ...link, order })}
        />
      </header>
      <p className={styles.note}>
        {confidence}
        {comparison.same_length || link.basis === "rates"
          ? null
          : " The runs differ in length, so their totals get no verdict; compare rates."}
      </p>
      {rows.length === 0 ? (
        <p className={shared.none}>No figure matches the filter.</p>
      ) : (
        <div className={shared.scroll}>
          <table className={`${shared.table} ${styles.table}`}>
            <thead>
              <tr>
                <th scope="col">Figure</th>
                <th scope="col" className={shared.number}>
                  <GroupHead comparison={comparison} group={0} />
                </th>
                {others.map(({ runs }, index) => (
                  <th key={runs.join()} scope="col" colSpan={3} className={styles.against}>
                    <GroupHead comparison={comparison} group={index + 1} />{" "}
                    <span className={styles.held}>vs {first?.label}</span>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <Row
                  key={`${row.metric} ${row.role ?? ""}`}
                  row={row}
                  labels={groups.map(({ label }) => label)}
                  roles={comparison.roles}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {link.rows === "process" && zeros.length > 0 ? (
        <p className={styles.note}>Zero in all runs: {zeros.join(", ")}.</p>
      ) : null}
    </section>
  );
}

interface GroupHeadProps {
  readonly comparison: Comparison;
  readonly group: number;
}

/** Name of a group, with the colours of its runs in the charts. */
function GroupHead({ comparison, group }: GroupHeadProps) {
  const colours = CHART_THEMES[useStore(theme)];
  return (
    <span className={shared.run}>
      {comparison.runs.map((run, place) =>
        run.group === group ? <RunSample key={run.run} index={place} theme={colours} /> : null,
      )}
      {comparison.groups[group]?.label}
    </span>
  );
}

interface RowProps {
  readonly row: ComparedMetric;
  readonly labels: readonly string[];
  readonly roles: Comparison["roles"];
}

function Row({ row, labels, roles }: RowProps) {
  const [first, ...others] = row.groups;
  return (
    <tr data-metric={row.metric} data-role={row.role ?? ""}>
      <th scope="row" className={styles.figure}>
        {row.label}{" "}
        {row.role === null ? null : (
          <span className={styles.role}>
            <RoleName role={row.role} roles={roles} />
          </span>
        )}
        {row.provenance === "exact" ? null : (
          <Tooltip text={PROVENANCE_TEXTS[row.provenance]}>
            <span className={styles.provenance}>{row.provenance}</span>
          </Tooltip>
        )}
      </th>
      <td className={shared.number} data-group={labels[0]}>
        <Figure row={row} figure={first} />
      </td>
      {others.map((figure, index) => (
        <Against
          // Groups have no identity other than their index.
          key={String(index)}
          row={row}
          label={labels[index + 1]}
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
  const half = halfWidth(figure);
  return (
    <Tooltip
      text={
        figure.n > 1
          ? `Runs: ${values}. Standard deviation: ${figureText(row, figure.std_dev)}.`
          : null
      }
    >
      {figureText(row, figure.mean)}
      {half === null ? null : <span className={styles.interval95}> ± {figureText(row, half)}</span>}
    </Tooltip>
  );
}

interface AgainstProps extends FigureProps {
  readonly label: string | undefined;
  readonly difference: FigureDifference | undefined;
}

function Against({ row, label, figure, difference }: AgainstProps) {
  return (
    <>
      <td className={`${shared.number} ${styles.start}`} data-group={label}>
        <Figure row={row} figure={figure} />
      </td>
      <td className={shared.number} data-group="difference">
        {difference === undefined || difference.absolute === null ? (
          "–"
        ) : (
          <>
            {percentText(difference.percent)}
            <span className={styles.interval95}> {differenceText(row, difference.absolute)}</span>
          </>
        )}
      </td>
      <td className={styles.judged}>
        {difference === undefined ? null : (
          <>
            <VerdictText difference={difference} />
            <IntervalBar row={row} difference={difference} />
          </>
        )}
      </td>
    </>
  );
}

function VerdictText({ difference }: { readonly difference: FigureDifference }) {
  const { verdict, caveat, method } = difference;
  return (
    <Tooltip text={caveat}>
      <span
        className={styles.verdict}
        data-verdict={verdict}
        data-tested={method !== "none"}
        // Keyboard users reach the tooltip by focus.
        tabIndex={caveat === null ? undefined : 0}
      >
        <span aria-hidden="true">{signOf(difference)}</span> {VERDICTS[verdict][0]}
        {caveat === null ? null : <span className={styles.caveat}> *</span>}
      </span>
    </Tooltip>
  );
}

interface IntervalBarProps {
  readonly row: ComparedMetric;
  readonly difference: FigureDifference;
}

/** The 95 % confidence interval of a difference, around 0. */
function IntervalBar({ row, difference }: IntervalBarProps) {
  const bar = barOf(difference);
  if (bar === null) {
    return null;
  }
  const text = `95 % confidence interval of the difference: ${differenceText(row, difference.low)} to ${differenceText(row, difference.high)}`;
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
