/** Feature `pools`: the worker's view of pools in, a table and curves out. */

import { memo, useRef, useState } from "react";
import { theme } from "../../base/theme";
import { READABLE_MS, useSelected, useStore, useThrottled } from "../../base/useStore";
import { clockText } from "../../chart/axes";
import { CHART_THEMES } from "../../chart/palette";
import { useLiveClient } from "../../stream/client";
import { counted, formatDuration, formatNumber, formatValue } from "../../stream/format";
import type { JobTimes, PoolRow, PoolsView } from "../../stream/poolsView";
import type { TargetView } from "../../stream/targetView";
import type { Span } from "../../stream/window";
import { Panel, PictureTable } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import { FactMessage, rateColumn, shareColumn, textColumn, useFacts } from "../facts/FactColumns";
import { PoolCharts } from "./PoolCharts";
import styles from "./pools.module.css";

const SOURCES: Readonly<Record<string, string>> = {
  agent: "agent in the program",
  prometheus: "the program's own metrics",
  hsperfdata: "counters of the Java virtual machine",
};

const attachedOf = (view: TargetView | null) => view?.target?.attached_unix_us;

const poolKey = ({ pool }: PoolRow) => String(pool);

/** Explanation of AIT: average time of the window's jobs from submission to start. */
const AIT =
  "Average idle time of jobs: from submission to start. Idle time of workers stands beside it.";

function timeColumn(
  id: string,
  label: string,
  under: string,
  value: (row: PoolRow) => number,
  tip?: string,
): SortedColumn<PoolRow> {
  const cell = (row: PoolRow) => formatValue(value(row), "s");
  return { id, label, under, value, cell, width: 5.25, ...(tip !== undefined && { tip }) };
}

function timesColumns(
  id: string,
  label: string,
  times: (row: PoolRow) => JobTimes,
): readonly SortedColumn<PoolRow>[] {
  return [
    timeColumn(`${id}50`, label, "p50", (row) => times(row).p50_s),
    timeColumn(`${id}95`, label, "p95", (row) => times(row).p95_s),
    timeColumn(`${id}99`, label, "p99", (row) => times(row).p99_s),
  ];
}

const NAME = textColumn<PoolRow>("name", "Pool", ({ name }) => name, {
  cell: (row) => (
    <span className={styles.name} data-current={row.current}>
      {row.name}
      <span className={styles.kind}>
        {row.kind}
        {row.current ? "" : ", not read any more"}
      </span>
    </span>
  ),
});

/** Program that owns the pool, in a group. */
const PROGRAM = textColumn<PoolRow>("program", "Program", programOf, {
  width: 9,
  cell: (row) => (
    <span className={styles.name} title={programOf(row)}>
      {row.program}
      <span className={styles.kind}>pid {row.pid}</span>
    </span>
  ),
});

function programOf({ program, pid }: PoolRow): string {
  return `${program} ${pid}`.trim();
}

const FIGURE_COLUMNS: readonly SortedColumn<PoolRow>[] = [
  numberColumn("size", "Size", ({ size }) => size, "Workers that it may have."),
  numberColumn("queue", "Queue", ({ queue }) => queue, "Jobs that wait to be started."),
  shareColumn("load", "Load", ({ load }) => load, {
    tip: "Time that jobs ran, as a share of what workers of this size could run.",
    width: 8,
  }),
  rateColumn("submitted", "Submitted", ({ submitted_per_s }) => submitted_per_s),
  rateColumn("finished", "Finished", ({ finished_per_s }) => finished_per_s, {
    tip: "Throughput. Jobs that failed are among them.",
  }),
  ...timesColumns("response", "Response", ({ response }) => response),
  timeColumn("wait95", "Queue wait", "p95", ({ queue_wait }) => queue_wait.p95_s),
  timeColumn("ait", "Queue wait", "mean (AIT)", ({ queue_wait }) => queue_wait.mean_s, AIT),
  {
    id: "relative",
    label: "Relative",
    under: "AIT",
    tip: "AIT at the smallest size in the window, divided by that at the size now: above 1 jobs wait shorter than they did there. It needs a size that changed.",
    width: 5,
    value: ({ relative_ait }) => relative_ait,
    cell: ({ relative_ait, ait_size }) => (
      <span title={Number.isNaN(ait_size) ? undefined : `Compared with size ${ait_size}`}>
        {formatNumber(relative_ait, "count")}
      </span>
    ),
  },
  {
    id: "idle",
    label: "Idle",
    under: "workers",
    tip: "Workers without a job, on average.",
    width: 5,
    value: ({ idle }) => idle,
    cell: ({ idle }) => formatNumber(idle, "cores"),
  },
];

const COLUMNS = [NAME, ...FIGURE_COLUMNS];
const COLUMNS_OF_GROUP = [NAME, PROGRAM, ...FIGURE_COLUMNS];

function numberColumn(
  id: string,
  label: string,
  value: (row: PoolRow) => number,
  tip: string,
): SortedColumn<PoolRow> {
  return { id, label, tip, value, cell: (row) => formatNumber(value(row), "count"), width: 4.5 };
}

/** Worker pools; a row opens to its history. */
export const PoolsPanel = memo(function PoolsPanel() {
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("pools", place);
  const client = useLiveClient();
  const axis = useThrottled(client.axis, READABLE_MS);
  const attached_us = useSelected(client.target, attachedOf);
  const colours = CHART_THEMES[useStore(theme)];
  const [chosen, choose] = useState<number | null | undefined>(undefined);
  // The busiest pool is open until the user chooses.
  const open = chosen === undefined ? (view?.pools[0]?.pool ?? null) : chosen;
  const shown = view?.pools.find(({ pool }) => pool === open);
  return (
    <Panel
      title="Pools"
      note={noteOf(view)}
      data-panel="pools"
      table={
        shown && attached_us !== undefined ? (
          <PoolTable row={shown} attached_unix_ms={attached_us / 1000} />
        ) : undefined
      }
    >
      <div ref={place} data-state={view?.state ?? "waiting"}>
        {view?.state === "ok" ? (
          <>
            <SortedTable
              label="Pools"
              columns={view.several ? COLUMNS_OF_GROUP : COLUMNS}
              rows={view.pools}
              keyOf={poolKey}
              sortedBy="finished"
              first={11}
              pressed={({ pool }) => pool === open}
              onPress={({ pool }) => choose(pool === open ? null : pool)}
              none="No pool was read within the window."
            />
            {shown ? <Opened row={shown} axis={axis ?? view} colours={colours} /> : null}
          </>
        ) : (
          <FactMessage view={view} />
        )}
      </div>
    </Panel>
  );
});

function noteOf(view: PoolsView | null): string {
  if (view?.state !== "ok") return "pools of workers, as the program reports them";
  const seconds = Math.max(...view.pools.map((pool) => pool.seconds));
  const omitted = view.omitted > 0 ? `; ${counted(view.omitted, "pool")} left out` : "";
  return seconds > 0 ? `mean over ${formatDuration(seconds)}${omitted}` : "first reading";
}

interface OpenedProps {
  readonly row: PoolRow;
  readonly axis: Span;
  readonly colours: (typeof CHART_THEMES)[keyof typeof CHART_THEMES];
}

function Opened({ row, axis, colours }: OpenedProps) {
  const jobs = (value: number) => formatValue(value, "count");
  const rate = (value: number) => formatNumber(value, "1/s");
  const figures: readonly (readonly [string, number, string])[] = [
    ["submitted since attach", row.submitted, jobs(row.submitted)],
    ["finished since attach", row.finished, jobs(row.finished)],
    ["failed", row.failed, jobs(row.failed)],
    ["mean response", row.response.mean_s, formatValue(row.response.mean_s, "s")],
    ["mean run", row.run_mean_s, formatValue(row.run_mean_s, "s")],
    ["parks a second", row.parks_per_s, rate(row.parks_per_s)],
    ["steals a second", row.steals_per_s, rate(row.steals_per_s)],
    ["polls a second", row.polls_per_s, rate(row.polls_per_s)],
  ];
  return (
    <section className={styles.opened} aria-label={`Pool ${row.name}`}>
      <PoolCharts row={row} t0_s={axis.t0_s} t1_s={axis.t1_s} colours={colours} />
      <dl className={styles.figures}>
        {figures
          .filter(([, value]) => !Number.isNaN(value))
          .map(([label, , text]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        <div>
          <dt>source</dt>
          <dd>
            {SOURCES[row.source] ?? row.source}, {row.program === "" ? "" : `${row.program}, `}pid{" "}
            {row.pid}
          </dd>
        </div>
      </dl>
    </section>
  );
}

/** Number of readings listed. */
const ROWS = 12;

const POOL_TABLE_COLUMNS = [
  { id: "time", name: "Time" },
  { id: "size", name: "Size" },
  { id: "busy", name: "Busy" },
  { id: "finished", name: "Finished" },
  { id: "submitted", name: "Submitted" },
  { id: "ait", name: "Queue wait, mean" },
];

interface PoolTableProps {
  readonly row: PoolRow;
  /** Time of attach, Unix milliseconds. */
  readonly attached_unix_ms: number;
}

/** History of a pool as a table: some of its readings, newest first. */
function PoolTable({ row, attached_unix_ms }: PoolTableProps) {
  const { time_s, size, busy, finished_per_s, submitted_per_s, ait_s } = row.series;
  const step = Math.max(1, Math.floor(time_s.length / ROWS));
  const places = Array.from(time_s.keys())
    .reverse()
    .filter((_, n) => n % step === 0);
  const series = [
    [size, "count"],
    [busy, "count"],
    [finished_per_s, "1/s"],
    [submitted_per_s, "1/s"],
    [ait_s, "s"],
  ] as const;
  return (
    <PictureTable
      label={`Pool ${row.name}`}
      columns={POOL_TABLE_COLUMNS}
      rows={places.map((place) => ({
        id: place,
        head: clockText(attached_unix_ms + 1000 * (time_s[place] ?? Number.NaN)),
        cells: series.map(([values, unit]) => formatValue(values[place] ?? Number.NaN, unit)),
      }))}
    />
  );
}
