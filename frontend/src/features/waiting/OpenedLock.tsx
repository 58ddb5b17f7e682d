import type { ChartTheme } from "../../chart/palette";
import { Sparkline } from "../../chart/Sparkline";
import { useLiveClient } from "../../stream/client";
import { counted } from "../../stream/format";
import type { GilThread, LockRow, LocksView, LockThread } from "../../stream/locks";
import type { WaitingView } from "../../stream/waiting";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import { meanColumn, rateColumn, shareColumn, threadColumn } from "../facts/FactColumns";
import styles from "../facts/facts.module.css";
import { lockCode, usePlaces } from "../stacks/Places";

const SOURCES: Readonly<Record<string, string>> = {
  futex: "futex",
  "go-mutex-profile": "Go's mutex profile",
  "go-metrics": "Go's runtime metrics",
  "java-monitor": "Java's monitors",
  "system-call": "system call",
};

interface OpenedLockProps {
  readonly view: WaitingView;
  readonly row: LockRow;
  readonly theme: ChartTheme;
}

/** An opened lock: where it is, its code, its waiters and the threads that wake them. */
export function OpenedLock({ view, row, theme: colours }: OpenedLockProps) {
  const code = lockCode(usePlaces().locks.get(row.lock));
  const { open, gil } = view;
  return (
    <>
      <p className={styles.detail}>
        {originOf(row)} <Sparkline values={row.trend} width={96} height={18} />
      </p>
      {code === "" ? null : <p className={styles.detail}>{`${row.name} is ${code}.`}</p>}
      {row.kind === "gil" && gil.length > 0 ? <Gil gil={gil} theme={colours} /> : null}
      {open?.lock === row.lock ? (
        <LockThreads open={open} theme={colours} />
      ) : (
        <p className={styles.detail}>Loading its threads…</p>
      )}
    </>
  );
}

/** File and address of a lock, and the source of its figures: "libx.so at 0x10. Source: futex." */
function originOf({ symbol_file, address, source, count }: LockRow): string {
  const from = `Source: ${SOURCES[source] ?? source}.`;
  if (count > 1) {
    return `${counted(count, "lock")}, made for each wait or thread: one thread at a time waits at each. ${from}`;
  }
  const at = address > 0 ? `at 0x${address.toString(16)}` : "";
  const where = [symbol_file, at].filter((part) => part !== "").join(" ");
  return where === "" ? from : `${where}. ${from}`;
}

const keyOf = ({ tid, name }: LockThread) => `${tid} ${name}`;

/** Waiting time for the interpreter lock, by thread. */
function Gil({
  gil,
  theme: colours,
}: {
  readonly gil: WaitingView["gil"];
  readonly theme: ChartTheme;
}) {
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
        rows={gil}
        keyOf={keyOf}
        sortedBy="runnable"
      />
    </section>
  );
}

interface LockThreadsProps {
  readonly open: NonNullable<LocksView["open"]>;
  readonly theme: ChartTheme;
}

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
  const table = (
    title: string,
    columns: readonly SortedColumn<LockThread>[],
    rows: readonly LockThread[],
    none: string,
  ) => (
    <section aria-label={title}>
      <h3>{title}</h3>
      <SortedTable
        label={title}
        columns={columns}
        rows={rows}
        keyOf={keyOf}
        sortedBy={columns[1]?.id ?? ""}
        onPress={({ key }) => client.select(key)}
        none={none}
      />
    </section>
  );
  return (
    <div className={styles.lists}>
      {table("Waiters", waiting, open.waiters, "No thread waited.")}
      {table(
        "Who lets them go on",
        waking,
        open.wakers,
        "No thread of this process woke one of them.",
      )}
    </div>
  );
}
