import { useRef } from "react";
import { theme } from "../../../../base/theme";
import { useStore } from "../../../../base/useStore";
import type { ChartTheme } from "../../../../charts/palette";
import { Sparkline } from "../../../../charts/Sparkline";
import { counted, formatDuration, formatNumber, formatValue } from "../../../../model/format";
import type { GilThread, LockRow, LocksView } from "../../../../model/locks";
import { Panel } from "../../../../ui/Panel";
import { useLiveClient } from "../../../clients";
import { CHART_THEMES } from "../chartTheme";
import styles from "./facts.module.css";
import { LockThreads } from "./LockThreads";
import { Share } from "./Share";
import { type SortedColumn, SortedTable } from "./SortedTable";
import { ThreadName } from "./ThreadName";
import { useFacts } from "./useFacts";

const SOURCES: Readonly<Record<string, string>> = {
  futex: "futex",
  "go-mutex-profile": "Go's mutex profile",
  "go-metrics": "Go's runtime metrics",
  "java-monitor": "Java's monitors",
};

const KINDS: Readonly<Record<LockRow["kind"], string>> = {
  lock: "lock",
  condition: "condition",
  gil: "Python's GIL",
  park: "idle park",
  join: "end of a thread",
  monitor: "monitor",
  unknown: "not known",
};

const lockKey = ({ lock }: LockRow) => String(lock);
const gilKey = ({ tid, name }: GilThread) => `${tid} ${name}`;

const COLUMNS: readonly SortedColumn<LockRow>[] = [
  {
    id: "name",
    label: "Lock",
    text: true,
    value: ({ name }) => name,
    cell: (row) => <span title={titleOf(row)}>{row.name}</span>,
  },
  {
    id: "kind",
    label: "Kind",
    text: true,
    width: 8,
    value: ({ kind }) => KINDS[kind],
    cell: ({ kind }) => <span className={styles.kind}>{KINDS[kind]}</span>,
  },
  {
    id: "wait",
    label: "Waiting",
    under: "s a second",
    tip: "Thread-seconds of waiting a second: 2.5 means that two and a half threads waited at any time.",
    width: 6.5,
    value: ({ wait }) => wait,
    cell: ({ wait }) => formatNumber(wait, "s"),
  },
  {
    id: "share",
    label: "Share",
    under: "of thread time",
    tip: "Of the wall time of all threads of the process.",
    width: 8.25,
    value: ({ share }) => share,
    cell: ({ share }) => <Share value={share} />,
  },
  {
    id: "waits",
    label: "Waits",
    under: "per second",
    width: 6.5,
    value: ({ waits_per_s }) => waits_per_s,
    cell: ({ waits_per_s }) => formatNumber(waits_per_s, "1/s"),
  },
  {
    id: "mean",
    label: "Each",
    under: "mean",
    width: 5,
    value: ({ mean_s }) => mean_s,
    cell: ({ mean_s }) => formatValue(mean_s, "s"),
  },
  {
    id: "waiters",
    label: "Waiters",
    under: "threads",
    width: 5,
    value: ({ waiters }) => waiters,
    cell: ({ waiters }) => waiters,
  },
  {
    id: "trend",
    label: "Trend",
    text: true,
    width: 7,
    value: ({ wait }) => wait,
    cell: ({ trend }) => <Sparkline values={trend} width={96} height={18} />,
  },
  {
    id: "source",
    label: "Source",
    text: true,
    width: 8,
    value: ({ source }) => source,
    cell: ({ source }) => <span className={styles.kind}>{SOURCES[source] ?? source}</span>,
  },
];

/** Locks that threads wait for; one opens to its waiters and wakers. */
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
                <summary>{parksText(view.parks)}</summary>
                {table("Idle parks", view.parks, "")}
              </details>
            ) : null}
          </>
        ) : (
          <p className={styles.message}>
            {view?.state === "absent" ? `${view.reason}.` : "Waiting for two readings…"}
          </p>
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

function parksText(parks: readonly LockRow[]): string {
  const wait = parks.reduce((sum, park) => sum + park.wait, 0);
  return `Idle threads wait here: ${counted(parks.length, "park")}, ${formatValue(wait, "s")} a second`;
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
  return (
    <>
      {where === "" ? null : <p className={styles.detail}>{where}</p>}
      {view?.open?.lock === row.lock ? (
        <LockThreads open={view.open} theme={colours} />
      ) : (
        <p className={styles.detail}>Loading its threads…</p>
      )}
    </>
  );
}

/** Waiting for the interpreter's lock, a thread. */
function Gil({ view, theme: colours }: { readonly view: LocksView; readonly theme: ChartTheme }) {
  const columns: readonly SortedColumn<GilThread>[] = [
    {
      id: "name",
      label: "Thread",
      text: true,
      value: ({ name }) => name,
      cell: (thread) => <ThreadName thread={thread} theme={colours} />,
    },
    {
      id: "wait",
      label: "Waiting",
      under: "of its time",
      width: 8.25,
      value: ({ wait }) => wait,
      cell: ({ wait }) => <Share value={wait} />,
    },
    {
      id: "runnable",
      label: "Of its runnable time",
      under: "waiting for the GIL",
      tip: "Waiting for the GIL, of the time in which the thread waited for it, ran, or was in a run queue.",
      width: 10,
      value: ({ of_runnable }) => of_runnable,
      cell: ({ of_runnable }) => <Share value={of_runnable} />,
    },
    {
      id: "mean",
      label: "Each",
      under: "mean",
      width: 5,
      value: ({ mean_s }) => mean_s,
      cell: ({ mean_s }) => formatValue(mean_s, "s"),
    },
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
