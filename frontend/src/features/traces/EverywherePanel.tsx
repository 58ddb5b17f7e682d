import { useState } from "react";
import { rankOperations } from "../../api/traces";
import { counted } from "../../stream/format";
import { Button } from "../../ui/Button";
import { ProblemNotice } from "../../ui/ProblemNotice";
import { SortedTable } from "../../ui/SortedTable";
import type { SortedColumn } from "../../ui/sortedColumn";
import type { OperationEverywhere } from "../../wire/generated/models";
import { nsColumn, numberColumn, partColumn } from "./Columns";
import { operationName } from "./callTree";
import { endpointsQuery, type TraceSetLink } from "./link";
import styles from "./TracesPage.module.css";
import { useQuery } from "./useQuery";

const keyOf = (row: OperationEverywhere) => operationName(row);
const COLUMNS: readonly SortedColumn<OperationEverywhere>[] = [
  { id: "name", label: "Operation", text: true, value: keyOf, cell: keyOf },
  partColumn("share", "Mean share", ({ mean_share }) => mean_share, {
    tip: "Of the time of an endpoint's critical paths, averaged over all endpoints: each counts the same, however often it is asked.",
  }),
  nsColumn("own", "Own time", ({ exclusive_ns }) => exclusive_ns, {
    tip: "On all critical paths together.",
  }),
  numberColumn("endpoints", "Endpoints", ({ endpoints }) => endpoints, {
    tip: "On whose critical paths it is.",
  }),
  numberColumn("traces", "Requests", ({ traces }) => traces, {
    tip: "On whose critical path it is.",
  }),
];

/** What requests of all endpoints wait for; found once it is opened. */
export function EverywherePanel({ set }: { readonly set: TraceSetLink }) {
  const [open, setOpen] = useState(false);
  return (
    <details
      className={`surface ${styles.more}`}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>Operations over all endpoints</summary>
      {open ? <Everywhere set={set} /> : null}
    </details>
  );
}

function Everywhere({ set }: { readonly set: TraceSetLink }) {
  const { value, problem, refresh } = useQuery(rankOperations, endpointsQuery(set));
  if (problem !== null) {
    return (
      <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
    );
  }
  if (value === null) return <p className={styles.send}>Finding critical paths…</p>;
  const omitted =
    value.omitted === 0
      ? ""
      : ` ${counted(value.omitted, "request")} more are left out: more than one analysis holds.`;
  return (
    <>
      <p className={`${styles.hint} ${styles.send}`}>
        {counted(value.traces, "request")} of {counted(value.endpoints, "endpoint")}.{omitted}
      </p>
      <SortedTable
        label="Operations over all endpoints"
        columns={COLUMNS}
        rows={value.operations}
        keyOf={keyOf}
        sortedBy="share"
        first={14}
      />
    </>
  );
}
