import { traceDays } from "../../api/traces";
import { counted } from "../../stream/format";
import { Button } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { DailySeries, TraceDay, TraceDays } from "../../wire/generated/models";
import { changeText, operationName, shareText, timeText } from "./callTree";
import { daysQuery } from "./link";
import { type LinkProps, useQuery } from "./props";
import styles from "./TracesPage.module.css";

interface FigureText {
  readonly text: (value: number) => string;
  readonly change: (value: number) => string;
}

const TIME: FigureText = { text: timeText, change: changeText };
const SHARE: FigureText = { text: shareText, change: pointsText };

/** A signed change of a share: "+0.52 pp", "−1.2 pp", "±0". */
export function pointsText(change: number): string {
  const points = Math.abs(100 * change);
  const text = points.toFixed(points < 1 ? 2 : 1);
  if (Number(text) === 0) return "±0";
  return `${change > 0 ? "+" : "−"}${text} pp`;
}

/** Date of a day in UTC: "21 Nov". */
export function dayText({ begin_ns }: Pick<TraceDay, "begin_ns">): string {
  return new Date(begin_ns / 1e6).toLocaleDateString("en-GB", {
    ...{ day: "numeric", month: "short", timeZone: "UTC" },
  });
}

/** Latency and shares of critical paths day by day, with trends (CRISP, section 4.5.4). */
export function DaysPanel({ link }: LinkProps) {
  const { value, problem, refresh } = useQuery(traceDays, daysQuery(link));
  const [first] = value?.days ?? [];
  const last = value?.days.at(-1);
  const note =
    first === undefined || last === undefined ? "" : `${dayText(first)} to ${dayText(last)}, UTC`;
  return (
    <Panel title="Day by day" note={note}>
      <div className={styles.body}>
        {problem === null ? null : (
          <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
        )}
        {value === null ? (
          problem === null ? (
            <p className={styles.hint}>Finding critical paths…</p>
          ) : null
        ) : (
          <Report found={value} />
        )}
      </div>
    </Panel>
  );
}

interface DailyRow extends FigureText {
  readonly name: string;
  readonly series: DailySeries;
  readonly days: readonly TraceDay[];
}

const known = ({ values }: DailySeries) => values.filter((value) => value !== null);

function mean(series: DailySeries): number {
  const values = known(series);
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

const nameOf = ({ name }: DailyRow) => name;
const TREND =
  "Median of the changes between any two days (Theil–Sen), with its 95 % interval. An arrow: significant at 5 % after correction for the number of rows.";

const COLUMNS: readonly SortedColumn<DailyRow>[] = [
  {
    id: "slope",
    label: "A day",
    tip: TREND,
    value: ({ series }) => series.trend?.slope ?? Number.NaN,
    cell: ({ series, change }) => (series.trend === null ? "" : change(series.trend.slope)),
    width: 7,
  },
  {
    id: "trend",
    label: "Trend",
    text: true,
    tip: TREND,
    value: ({ series }) => series.direction,
    cell: ({ series }) => DIRECTIONS[series.direction],
    width: 5,
  },
  {
    id: "days",
    label: "Days",
    value: ({ series }) => known(series).at(-1) ?? 0,
    cell: (row) => <DayBars row={row} />,
    width: 13,
  },
  {
    id: "mean",
    label: "Mean",
    value: ({ series }) => mean(series),
    cell: ({ series, text }) => text(mean(series)),
    width: 6,
  },
  {
    id: "last",
    label: "Last",
    value: ({ series }) => known(series).at(-1) ?? 0,
    cell: ({ series, text }) => text(known(series).at(-1) ?? 0),
    width: 6,
  },
  {
    id: "interval",
    label: "95 % interval",
    value: ({ series }) => series.trend?.low ?? Number.NaN,
    cell: ({ series, change }) =>
      series.trend === null ? "" : `${change(series.trend.low)} to ${change(series.trend.high)}`,
    width: 14,
  },
];

const DIRECTIONS: Readonly<Record<DailySeries["direction"], string>> = {
  up: "▲ up",
  down: "▼ down",
  none: "",
};

function columns(label: string): readonly SortedColumn<DailyRow>[] {
  return [{ id: "name", label, text: true, value: nameOf, cell: nameOf }, ...COLUMNS];
}

const LATENCY = columns("Latency");
const OPERATIONS = columns("Share of critical paths");

function Report({ found }: { readonly found: TraceDays }) {
  const { days } = found;
  const omitted = days.reduce((sum, day) => sum + day.omitted, 0);
  const empty = days.filter(({ traces }) => traces === 0).length;
  const facts = [
    counted(
      days.reduce((sum, { traces }) => sum + traces, 0),
      "request",
    ),
    empty === 0 ? "" : `${counted(empty, "day")} without requests`,
    omitted === 0 ? "" : `${counted(omitted, "request")} more than an analysis holds`,
  ];
  return (
    <>
      <p className={styles.hint}>{facts.filter((text) => text !== "").join("; ")}.</p>
      <SortedTable
        label="Latency day by day"
        columns={LATENCY}
        rows={[
          { name: "P95", series: found.p95_ns, days, ...TIME },
          { name: "P50", series: found.p50_ns, days, ...TIME },
        ]}
        keyOf={nameOf}
        sortedBy="mean"
        first={11}
      />
      <SortedTable
        label="Operations day by day"
        columns={OPERATIONS}
        rows={found.operations.map((row) => ({
          ...{ name: operationName(row), series: row.shares, days, ...SHARE },
        }))}
        keyOf={nameOf}
        sortedBy="mean"
        first={11}
      />
    </>
  );
}

const HEIGHT = 20;

/** A bar for each day; a day without requests has a mark at the base. */
function DayBars({ row }: { readonly row: DailyRow }) {
  const { series, days, text } = row;
  const top = Math.max(0, ...known(series)) || 1;
  const words = days.map((day, at) => {
    const value = series.values[at] ?? null;
    return `${dayText(day)}: ${value === null ? "no requests" : text(value)}`;
  });
  return (
    <svg
      role="img"
      aria-label={words.join("; ")}
      viewBox={`0 0 ${days.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={styles.violin}
    >
      {days.map(({ begin_ns }, at) => {
        const value = series.values[at] ?? null;
        const height = value === null ? 1 : Math.max(1.5, (HEIGHT * value) / top);
        return (
          <rect
            key={begin_ns}
            x={at + 0.08}
            width={0.84}
            y={HEIGHT - height}
            height={height}
            data-gap={value === null}
          >
            <title>{words[at]}</title>
          </rect>
        );
      })}
    </svg>
  );
}
