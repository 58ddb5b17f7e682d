import { useMemo } from "react";
import { counted, NO_VALUE } from "../../stream/format";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import { kindName, moduleOf } from "./frames";
import styles from "./stacks.module.css";
import {
  estimateText,
  FEW_SAMPLES,
  type FunctionRow,
  functionRows,
  type StackTree,
  shareText,
  timeText,
  UNSEEN_NAME,
} from "./stackTree";

interface FunctionTableProps {
  readonly tree: StackTree;
  readonly exact_ns: number;
  readonly label: string;
  /** Zoom to the widest box of a function. */
  readonly onPath: (names: readonly string[]) => void;
}

const keyOf = ({ key }: FunctionRow) => key;

/** The flame graph's data as a table: a row per function, over all its callers. */
export function FunctionTable({ tree, exact_ns, label, onPath }: FunctionTableProps) {
  const rows = useMemo(() => functionRows(tree, exact_ns), [tree, exact_ns]);
  const columns = useMemo(() => columnsOf(exact_ns), [exact_ns]);
  return (
    <SortedTable
      label={`Functions: ${label}`}
      columns={columns}
      rows={rows}
      keyOf={keyOf}
      sortedBy="self"
      first={14}
      onPress={({ path }) => onPath(path)}
      none="No function."
    />
  );
}

/** False for the time without a known stack, which is not a function. */
function isKnown({ frame }: FunctionRow): boolean {
  return frame.function !== UNSEEN_NAME || frame.kind !== "unknown";
}

function columnsOf(exact_ns: number): readonly SortedColumn<FunctionRow>[] {
  const text = (
    id: string,
    heading: string,
    value: (row: FunctionRow) => string,
    width?: number,
  ): SortedColumn<FunctionRow> => ({
    ...{ id, label: heading, text: true, value },
    cell: (row) => <span title={value(row)}>{value(row)}</span>,
    ...(width !== undefined && { width }),
  });
  const time = (
    id: string,
    heading: string,
    value: (row: FunctionRow) => number,
    tip: string,
  ): SortedColumn<FunctionRow> => ({
    ...{ id, label: heading, value, tip, width: 6.5 },
    cell: (row) => timeText(value(row)),
  });
  return [
    text("name", "Function", ({ frame }) => frame.function),
    text("source", "Where", ({ source }) => source, 11),
    text("module", "Module", (row) => (isKnown(row) ? moduleOf(row.frame) : ""), 9),
    text("kind", "Kind", (row) => (isKnown(row) ? kindName(row.frame.kind) : ""), 6),
    time("self", "Itself", ({ self_ns }) => self_ns, "Time in which it is the innermost function."),
    time("total", "Total", ({ ns }) => ns, "With the functions that it calls."),
    {
      ...{ id: "share", label: "Share", width: 5.5, value: ({ ns }: FunctionRow) => ns },
      cell: ({ ns }) => shareText(ns, exact_ns),
    },
    {
      ...{ id: "interval", label: "Total, 95 % interval", width: 15 },
      value: ({ low_ns, high_ns }) => high_ns - low_ns,
      cell: (row) => estimateText(row),
    },
    {
      ...{
        id: "samples",
        label: "Samples",
        width: 6,
        value: ({ samples }: FunctionRow) => samples,
      },
      cell: (row) =>
        !isKnown(row) ? (
          NO_VALUE
        ) : row.samples < FEW_SAMPLES ? (
          <span className={styles.few} title={`${counted(row.samples, "sample")}: few`}>
            {row.samples}
          </span>
        ) : (
          row.samples
        ),
    },
  ];
}
