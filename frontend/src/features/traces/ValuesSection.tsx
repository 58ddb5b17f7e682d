import { useMemo } from "react";
import { traceValues } from "../../api/traces";
import { session } from "../../base/session";
import { useStore } from "../../base/useStore";
import { Button, Select } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { TraceValue, TraceValues } from "../../wire/generated/models";
import { nsColumn, numberColumn } from "./Columns";
import { timeText } from "./callTree";
import { valuesQuery } from "./link";
import { type LinkProps, useQuery } from "./props";
import styles from "./TracesPage.module.css";

/** Name of a row: a value, or what its spans have in common. */
export function valueName({ kind, value, values }: TraceValue): string {
  if (kind === "other") return `${values} other values`;
  return kind === "absent" ? "without it" : value;
}

/** Own time of the chosen operation by the value of an attribute (CRISP, figure 4.22). */
export function ValuesSection({ link, onLink }: LinkProps) {
  const hidden = useStore(session)?.role === "viewer";
  const { value, problem, refresh } = useQuery(traceValues, hidden ? null : valuesQuery(link));
  if (hidden) {
    return (
      <p className={styles.hint}>
        Operators can divide its time by attribute; attributes may contain secrets.
      </p>
    );
  }
  return (
    <section aria-label="By attribute" className={styles.body}>
      {problem === null ? null : (
        <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
      )}
      {value === null ? (
        problem === null ? (
          <p className={styles.hint}>Dividing its time…</p>
        ) : null
      ) : value.keys.length === 0 ? (
        <p className={styles.hint}>Its spans on critical paths have no attributes.</p>
      ) : (
        <>
          <div className={styles.project}>
            <Select
              label="Own time by"
              value={value.key}
              choices={keyChoices(value)}
              onChange={(attribute) => onLink({ attribute })}
            />
          </div>
          <ValuesTable found={value} />
        </>
      )}
    </section>
  );
}

function keyChoices({ key, keys }: TraceValues) {
  const known = keys.map((one) => ({
    value: one.key as string,
    label: `${one.key} (${one.values === 1 ? "1 value" : `${one.values} values`})`,
  }));
  return known.some(({ value }) => value === key) ? known : [{ value: key, label: key }, ...known];
}

function ValuesTable({ found }: { readonly found: TraceValues }) {
  const { bounds_ns } = found;
  const columns = useMemo<readonly SortedColumn<TraceValue>[]>(
    () => [
      { id: "value", label: found.key, text: true, value: valueName, cell: valueCell },
      {
        id: "violin",
        label: "Own time of a span",
        under: `${timeText(bounds_ns[0] ?? 0)} to ${timeText(bounds_ns.at(-1) ?? 0)}, logarithmic`,
        value: ({ p50_ns }) => p50_ns,
        cell: (row) => <Violin row={row} bounds={bounds_ns} />,
        width: 17,
      },
      nsColumn("p50", "P50", ({ p50_ns }) => p50_ns),
      nsColumn("p95", "P95", ({ p95_ns }) => p95_ns),
      nsColumn("most", "Longest", ({ most_ns }) => most_ns),
      nsColumn("own", "Own time", ({ own_ns }) => own_ns, { tip: "Of all spans together." }),
      numberColumn("spans", "Spans", ({ spans }) => spans, { tip: "On critical paths." }),
      numberColumn("traces", "Requests", ({ traces }) => traces),
    ],
    [found.key, bounds_ns],
  );
  return (
    <div className={styles.table}>
      <SortedTable
        label="Own time by attribute"
        columns={columns}
        rows={found.rows}
        keyOf={(row) => `${row.kind} ${row.value}`}
        sortedBy="own"
        first={12}
      />
    </div>
  );
}

function valueCell(row: TraceValue) {
  const name = valueName(row);
  return row.kind === "value" ? <span title={name}>{name}</span> : <em>{name}</em>;
}

const HEIGHT = 20;

interface ViolinProps {
  readonly row: TraceValue;
  readonly bounds: readonly number[];
}

/** Distribution of own times as a violin; the columns beside it have the same for screen readers. */
function Violin({ row, bounds }: ViolinProps) {
  const most = Math.max(1, ...row.counts);
  const median = bounds.findLastIndex((bound) => bound <= row.p50_ns);
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${row.counts.length} ${HEIGHT}`}
      preserveAspectRatio="none"
      className={styles.violin}
    >
      {row.counts.map((count, at) => {
        const height = count === 0 ? 0 : Math.max(1.5, (HEIGHT * count) / most);
        return <rect key={bounds[at]} x={at} width={1} y={(HEIGHT - height) / 2} height={height} />;
      })}
      <line x1={median + 0.5} x2={median + 0.5} y1={0} y2={HEIGHT} />
    </svg>
  );
}
