/** Feature `processes`: the worker's view of a group's processes in, a sortable table out. */

import { memo, useCallback, useMemo, useRef } from "react";
import { theme } from "../../base/theme";
import { useSelected, useStore } from "../../base/useStore";
import { Marker } from "../../chart/Marker";
import { CHART_THEMES, type ChartTheme, colourStyle } from "../../chart/palette";
import { useLiveClient } from "../../stream/client";
import { counted, formatNumber, formatValue, NO_VALUE } from "../../stream/format";
import type { ProcessesView, ProcessRowView } from "../../stream/processesView";
import type { ViewRequest } from "../../stream/viewRequest";
import type { ShownUnit } from "../../stream/views";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { Target } from "../../wire/generated/models";
import { useFacts } from "../facts/FactColumns";
import facts from "../facts/facts.module.css";

const keyOf = ({ key }: ProcessRowView) => key;
const selectedOf = (view: ViewRequest) => view.selected;
const NO_HOVER = { t_s: null, key: null, chart: null };

export const ProcessesPanel = memo(function ProcessesPanel({
  target,
}: {
  readonly target: Target;
}) {
  const client = useLiveClient();
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("processes", place);
  const selected = useSelected(client.view, selectedOf);
  const colours = CHART_THEMES[useStore(theme)];
  const rows = view?.rows ?? null;
  const columns = useMemo(
    () => columnsOf(target.fields, rows ?? [], colours),
    [target.fields, rows, colours],
  );
  // Stable while the rows are: during scrolling only new rows are drawn.
  const onPress = useCallback(
    ({ key, colour }: ProcessRowView) => (colour === null ? undefined : client.select(key)),
    [client],
  );
  const onPoint = useCallback(
    (row: ProcessRowView | null) =>
      client.hover.set(row === null ? NO_HOVER : { ...NO_HOVER, key: row.key }),
    [client],
  );
  return (
    <Panel title="Processes" note={noteOf(view)} data-panel="processes">
      <div ref={place} data-state={view?.state ?? "waiting"}>
        {view?.state === "ok" ? (
          <SortedTable
            label="Processes"
            columns={columns}
            rows={view.rows}
            keyOf={keyOf}
            sortedBy="cores"
            first={16}
            pressed={({ key }) => key === selected}
            onPress={onPress}
            onPoint={onPoint}
            none="No process matches the filter."
          />
        ) : (
          <p className={facts.message}>Waiting for the first list of processes…</p>
        )}
      </div>
    </Panel>
  );
});

function noteOf(view: ProcessesView | null): string {
  const parts = ["since attach; ended ones are folded by name after about ten seconds"];
  if (view !== null && view.more > 0) {
    const cpu = formatValue(view.more_cpu_ns / 1e9, "s");
    parts.push(`${formatValue(view.more, "count")} that did less not listed: ${cpu} CPU`);
  }
  if (view !== null && view.omitted > 0) {
    parts.push(`${counted(view.omitted, "row")} left out by the collector`);
  }
  return parts.join("; ");
}

/** A figure of the table: its unit, and the thread field that it requires. */
interface Figure {
  readonly column: string;
  readonly label: string;
  readonly under?: string;
  readonly unit: ShownUnit;
  readonly scale: number;
  readonly field?: string;
}

const FIGURES: readonly Figure[] = [
  { column: "cpu_ns", label: "CPU time", under: "s", unit: "s", scale: 1e-9 },
  { column: "threads", label: "Threads", unit: "count", scale: 1 },
  { column: "threads_ended", label: "Threads", under: "ended", unit: "count", scale: 1 },
  ...[
    { column: "run_delay_ns", label: "Run-queue", under: "delay, s", field: "cpu_delay_ns" },
    { column: "blkio_delay_ns", label: "Block I/O", under: "delay, s", field: "blkio_delay_ns" },
  ].map((each) => ({ ...each, unit: "s" as const, scale: 1e-9 })),
  ...[
    { column: "read_bytes", label: "Disk", under: "read", field: "disk_read_bytes" },
    { column: "write_bytes", label: "Disk", under: "written", field: "disk_write_bytes" },
    { column: "rx_bytes", label: "Network", under: "received", field: "net_read_bytes" },
    { column: "tx_bytes", label: "Network", under: "sent", field: "net_write_bytes" },
  ].map((each) => ({ ...each, unit: "bytes" as const, scale: 1 })),
  ...[
    { column: "switches", label: "Switches", field: "voluntary_switches" },
    { column: "major_faults", label: "Major", under: "faults", field: "major_faults" },
  ].map((each) => ({ ...each, unit: "count" as const, scale: 1 })),
];

function columnsOf(
  fields: readonly string[],
  rows: readonly ProcessRowView[],
  colours: ChartTheme,
): readonly SortedColumn<ProcessRowView>[] {
  const figures = FIGURES.filter(({ field }) => field === undefined || fields.includes(field));
  const texts = (["container", "unit", "user"] as const).filter((name) =>
    rows.some((row) => row[name] !== ""),
  );
  return [
    {
      id: "name",
      label: "Process",
      text: true,
      value: ({ name }) => name,
      cell: (row) => <Name row={row} colours={colours} />,
    },
    {
      id: "pid",
      label: "pid",
      width: 5,
      value: ({ pid }) => pid ?? Number.NaN,
      cell: ({ pid, parent }) => (
        <span title={parent && `Child of ${parent}`}>{pid ?? NO_VALUE}</span>
      ),
    },
    {
      id: "cores",
      label: "CPU",
      under: "cores",
      tip: "Mean over the window in view.",
      width: 6,
      value: ({ cores }) => cores,
      cell: ({ cores }) => formatNumber(cores, "cores"),
    },
    ...figures.map(
      ({ column, label, under, unit, scale }): SortedColumn<ProcessRowView> => ({
        id: column,
        label,
        ...(under === undefined ? {} : { under }),
        width: 5.75,
        value: (row) => row.figures[column] ?? Number.NaN,
        cell: (row) =>
          unit === "bytes"
            ? formatValue(scale * (row.figures[column] ?? Number.NaN), unit)
            : formatNumber(scale * (row.figures[column] ?? Number.NaN), unit),
      }),
    ),
    ...texts.map(
      (name): SortedColumn<ProcessRowView> => ({
        id: name,
        label: TEXT_HEADS[name],
        text: true,
        width: name === "user" ? 6 : 9,
        value: (row) => row[name],
        cell: (row) => <span title={row[name]}>{row[name]}</span>,
      }),
    ),
  ];
}

const TEXT_HEADS = { container: "Container", unit: "Unit", user: "User" } as const;

function Name({ row, colours }: { readonly row: ProcessRowView; readonly colours: ChartTheme }) {
  const { name, title, colour, count, live } = row;
  return (
    <span className={facts.name} data-live={live} title={title || undefined}>
      {colour === null ? null : <Marker style={colourStyle(colour, colours)} />}
      <span className={facts.text}>
        <strong>{name}</strong>
        {count > 1 || !live ? (
          <span className={facts.ended}>{count > 1 ? ` ×${count} ended` : " ended"}</span>
        ) : null}{" "}
        <span className={facts.title}>{title}</span>
      </span>
    </span>
  );
}
