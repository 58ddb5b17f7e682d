import { useMemo, useState } from "react";
import { traceHeat } from "../../api/traces";
import { traceHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/chartTheme";
import { Button } from "../../ui/Button";
import { Panel } from "../../ui/Panel";
import { ProblemNotice } from "../../ui/ProblemNotice";
import { SegmentedControl } from "../../ui/SegmentedControl";
import { SortedTable } from "../../ui/SortedTable";
import type { SortedColumn } from "../../ui/sortedColumn";
import type { TraceHeat, TraceOperation } from "../../wire/generated/models";
import { nsColumn, numberColumn, traceColumn } from "./Columns";
import { operationName } from "./callTree";
import { type HeatOrder, heatColumns } from "./heat";
import { heatQuery } from "./link";
import type { LinkProps } from "./props";
import { TraceHeatMap } from "./TraceHeatMap";
import styles from "./TracesPage.module.css";
import { useQuery } from "./useQuery";

/** Operations by requests. */
export function HeatPanel({ link }: LinkProps) {
  const { value, problem, refresh } = useQuery(traceHeat, heatQuery(link));
  const colours = CHART_THEMES[useStore(theme)];
  const [order, setOrder] = useState<HeatOrder>("start");
  const columns = useMemo(() => (value === null ? [] : heatColumns(value, order)), [value, order]);
  return (
    <Panel
      title="Heat map"
      note="own time on the critical path; a column is a request"
      controls={
        <SegmentedControl
          label="Order of requests"
          value={order}
          choices={[
            { value: "start", label: "By start" },
            { value: "duration", label: "By duration" },
          ]}
          onChange={setOrder}
        />
      }
    >
      <div className={styles.body}>
        {problem === null ? null : (
          <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
        )}
        {value === null ? (
          problem === null ? (
            <p className={styles.hint}>Loading…</p>
          ) : null
        ) : (
          <>
            <TraceHeatMap
              heat={value}
              columns={columns}
              theme={colours}
              onOpen={(trace) => navigate(traceHref(trace))}
            />
            <details>
              <summary>As a table</summary>
              <HeatTable heat={value} />
            </details>
          </>
        )}
      </div>
    </Panel>
  );
}

interface HeatRow {
  readonly operation: TraceOperation;
  readonly median_ns: number;
  readonly most_ns: number;
  readonly traces: number;
  readonly slowest: string;
}

function heatRows({ operations, exclusive_ns, traces }: TraceHeat): readonly HeatRow[] {
  return operations.map((operation, row) => {
    const values = exclusive_ns[row] ?? [];
    const sorted = [...values].sort((a, b) => a - b);
    const most_ns = sorted.at(-1) ?? 0;
    return {
      operation,
      median_ns: sorted[Math.floor((sorted.length - 1) / 2)] ?? 0,
      most_ns,
      traces: values.filter((value) => value > 0).length,
      slowest: traces[values.indexOf(most_ns)]?.trace_id ?? "",
    };
  });
}

const keyOf = ({ operation }: HeatRow) => operationName(operation);
const COLUMNS: readonly SortedColumn<HeatRow>[] = [
  { id: "name", label: "Operation", text: true, value: keyOf, cell: keyOf },
  nsColumn("median", "Median", ({ median_ns }) => median_ns),
  nsColumn("most", "Longest", ({ most_ns }) => most_ns),
  numberColumn("traces", "Requests", ({ traces }) => traces, {
    tip: "Requests on whose critical path it is.",
  }),
  traceColumn(({ slowest }) => slowest, { label: "Slowest" }),
];

function HeatTable({ heat }: { readonly heat: TraceHeat }) {
  const rows = useMemo(() => heatRows(heat), [heat]);
  return (
    <SortedTable
      label="Own time of operations"
      columns={COLUMNS}
      rows={rows}
      keyOf={keyOf}
      sortedBy="median"
      first={14}
    />
  );
}
