import type { ChartTheme } from "../../chart/palette";
import { useLiveClient } from "../../stream/clients";
import type { LocksView, LockThread } from "../../stream/locks";
import { SortedTable } from "../../ui/SortedTable";
import type { SortedColumn } from "../../ui/sortedColumn";
import { meanColumn, rateColumn, shareColumn, threadColumn } from "../facts/FactColumns";
import styles from "../facts/facts.module.css";

interface LockThreadsProps {
  readonly open: NonNullable<LocksView["open"]>;
  readonly theme: ChartTheme;
}

const keyOf = ({ tid, name }: LockThread) => `${tid} ${name}`;

/** Threads at a lock: who waits for it, and who wakes those who wait. */
export function LockThreads({ open, theme }: LockThreadsProps) {
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
