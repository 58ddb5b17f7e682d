/** Feature `locks`: the worker's view of locks in, tables of locks, waiters and wakers out. */

import { useRef } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES, type ChartTheme } from "../../chart/palette";
import { Sparkline } from "../../chart/Sparkline";
import { useLiveClient } from "../../stream/client";
import { counted, formatDuration, formatValue } from "../../stream/format";
import type { GilThread, LockRow, LocksView, LockThread } from "../../stream/locks";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import {
  countColumn,
  estimated,
  FactMessage,
  kindColumn,
  meanColumn,
  rateColumn,
  shareColumn,
  textColumn,
  threadColumn,
  timeColumn,
  useFacts,
} from "../facts/FactColumns";
import styles from "../facts/facts.module.css";
import { LockPlace, lockCode, usePlaces } from "../stacks/Places";

const SOURCES: Readonly<Record<string, string>> = {
  futex: "futex",
  "go-mutex-profile": "Go's mutex profile",
  "go-metrics": "Go's runtime metrics",
  "java-monitor": "Java's monitors",
  "system-call": "system call",
};

const KINDS: Readonly<Record<LockRow["kind"], string>> = {
  lock: "lock",
  condition: "condition",
  gil: "Python's GIL",
  park: "idle park",
  join: "end of a thread",
  monitor: "monitor",
  call: "system call",
  unknown: "not known",
};

const lockKey = ({ lock }: LockRow) => String(lock);
const gilKey = ({ tid, name }: GilThread) => `${tid} ${name}`;

const COLUMNS: readonly SortedColumn<LockRow>[] = [
  textColumn("name", "Lock", ({ name }) => name, {
    cell: (row) => <span title={titleOf(row)}>{row.name}</span>,
  }),
  kindColumn("kind", "Kind", ({ kind }) => KINDS[kind], 8),
  estimated(
    timeColumn(
      "wait",
      "Waiting",
      ({ wait }) => wait,
      "Thread-seconds of waiting a second: 2.5 means that two and a half threads waited at any time.",
    ),
  ),
  estimated(
    shareColumn("share", "Share", ({ share }) => share, {
      under: "of thread time",
      tip: "Of the wall time of all threads of the process.",
    }),
  ),
  estimated(rateColumn("waits", "Waits", ({ waits_per_s }) => waits_per_s)),
  estimated(meanColumn("mean", ({ mean_s }) => mean_s)),
  countColumn("waiters", "Waiters", ({ waiters }) => waiters, "threads"),
  textColumn("where", "Where", ({ lock }) => String(lock), {
    under: "code that waits",
    width: 17,
    cell: ({ lock, name }) => <LockPlace lock={lock} name={name} />,
  }),
  {
    id: "trend",
    label: "Trend",
    text: true,
    width: 7,
    value: ({ wait }) => wait,
    cell: ({ trend }) => <Sparkline values={trend} width={96} height={18} />,
  },
  kindColumn("source", "Source", ({ source }) => SOURCES[source] ?? source, 8),
];

/** Locks with waiting threads; a row opens to its waiters and wakers. */
export function LocksPanel() {
  const client = useLiveClient();
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("locks", place);
  const colours = CHART_THEMES[useStore(theme)];
  const open = useStore(client.view).open_lock;
  const table = (label: string, rows: readonly LockRow[], none: string) => (
    <SortedTable
      label={label}
      columns={COLUMNS}
      rows={rows}
      keyOf={lockKey}
      sortedBy="wait"
      first={12}
      pressed={({ lock }) => lock === open}
      onPress={({ lock }) => client.request({ open_lock: lock === open ? null : lock })}
      expands
      below={(row) => (row.lock === open ? <Opened view={view} row={row} theme={colours} /> : null)}
      none={none}
    />
  );
  return (
    <Panel title="Locks" note={noteOf(view)} data-panel="locks">
      <div ref={place} data-state={view?.state ?? "waiting"}>
        {view?.state === "ok" ? (
          <>
            {table("Locks", view.locks, "No thread waited for a lock.")}
            {view.gil.length > 0 ? <Gil view={view} theme={colours} /> : null}
            {view.parks.length > 0 ? (
              <details className={styles.parks}>
                <summary>{restText("Parked threads wait here", "park", view.parks)}</summary>
                {table("Parks", view.parks, "")}
              </details>
            ) : null}
            {view.calls.length > 0 ? (
              <details className={styles.parks}>
                <summary>{restText("Waits in other system calls", "call", view.calls)}</summary>
                {table("Other system calls", view.calls, "")}
              </details>
            ) : null}
          </>
        ) : (
          <FactMessage view={view} />
        )}
      </div>
    </Panel>
  );
}

function noteOf(view: LocksView | null): string {
  if (view?.state !== "ok") {
    return "who waits for which";
  }
  const omitted = view.omitted > 0 ? `; ${counted(view.omitted, "row")} left out` : "";
  return `finished waits, mean over ${formatDuration(view.seconds)}${omitted}`;
}

function restText(what: string, unit: string, rows: readonly LockRow[]): string {
  const wait = rows.reduce((sum, row) => sum + row.wait, 0);
  return `${what}: ${counted(rows.length, unit)}, ${formatValue(wait, "s")} a second`;
}

function titleOf({ symbol_file, address }: LockRow): string {
  const where = address > 0 ? `at 0x${address.toString(16)}` : "";
  return [symbol_file, where].filter((part) => part !== "").join(" ");
}

interface OpenedProps {
  readonly view: LocksView | null;
  readonly row: LockRow;
  readonly theme: ChartTheme;
}

function Opened({ view, row, theme: colours }: OpenedProps) {
  const where = titleOf(row);
  const code = lockCode(usePlaces().locks.get(row.lock));
  return (
    <>
      {where === "" ? null : <p className={styles.detail}>{where}</p>}
      {code === "" ? null : <p className={styles.detail}>{`${row.name} is ${code}.`}</p>}
      {view?.open?.lock === row.lock ? (
        <LockThreads open={view.open} theme={colours} />
      ) : (
        <p className={styles.detail}>Loading its threads…</p>
      )}
    </>
  );
}

/** Waiting time for the interpreter lock, by thread. */
function Gil({ view, theme: colours }: { readonly view: LocksView; readonly theme: ChartTheme }) {
  const columns: readonly SortedColumn<GilThread>[] = [
    threadColumn(colours),
    shareColumn("wait", "Waiting", ({ wait }) => wait, { under: "of its time" }),
    shareColumn("runnable", "Of its runnable time", ({ of_runnable }) => of_runnable, {
      under: "waiting for the GIL",
      tip: "Waiting for the GIL, of the time in which the thread waited for it, ran, or was in a run queue.",
      width: 10,
    }),
    meanColumn("mean", ({ mean_s }) => mean_s),
  ];
  return (
    <section className={styles.gil} aria-label="Waiting for the GIL, by thread">
      <h3>Waiting for the GIL, by thread</h3>
      <SortedTable
        label="Waiting for the GIL"
        columns={columns}
        rows={view.gil}
        keyOf={gilKey}
        sortedBy="runnable"
      />
    </section>
  );
}

interface LockThreadsProps {
  readonly open: NonNullable<LocksView["open"]>;
  readonly theme: ChartTheme;
}

const keyOf = ({ tid, name }: LockThread) => `${tid} ${name}`;

/** Threads at a lock: waiters, and the threads that wake them. */
function LockThreads({ open, theme }: LockThreadsProps) {
  const client = useLiveClient();
  const name = threadColumn<LockThread>(theme);
  const waiting: readonly SortedColumn<LockThread>[] = [
    name,
    shareColumn("wait", "Waiting", ({ wait }) => wait, { under: "of its time" }),
    rateColumn("waits", "Waits", ({ waits_per_s }) => waits_per_s),
    meanColumn("mean", ({ mean_s }) => mean_s),
  ];
  const waking: readonly SortedColumn<LockThread>[] = [
    name,
    rateColumn("wakes", "Wakes", ({ wakes_per_s }) => wakes_per_s),
  ];
  const onPress = ({ key }: LockThread) => client.select(key);
  return (
    <div className={styles.lists}>
      <section aria-label="Waiters">
        <h3>Waiters</h3>
        <SortedTable
          label="Waiters"
          columns={waiting}
          rows={open.waiters}
          keyOf={keyOf}
          sortedBy="wait"
          onPress={onPress}
          none="No thread waited."
        />
      </section>
      <section aria-label="Who lets them go on">
        <h3>Who lets them go on</h3>
        <SortedTable
          label="Who lets them go on"
          columns={waking}
          rows={open.wakers}
          keyOf={keyOf}
          sortedBy="wakes"
          onPress={onPress}
          none="No thread of this process woke one of them."
        />
      </section>
    </div>
  );
}
