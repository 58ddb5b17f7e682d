import type { ChartTheme } from "../../../../charts/palette";
import { formatNumber, formatValue } from "../../../../model/format";
import type { LocksView, LockThread } from "../../../../model/locks";
import { useLiveClient } from "../../../clients";
import styles from "./facts.module.css";
import { Share } from "./Share";
import { type SortedColumn, SortedTable } from "./SortedTable";
import { ThreadName } from "./ThreadName";

interface LockThreadsProps {
  readonly open: NonNullable<LocksView["open"]>;
  readonly theme: ChartTheme;
}

const keyOf = ({ tid, name }: LockThread) => `${tid} ${name}`;

/** Threads at a lock: who waits for it, and who wakes those who wait. */
export function LockThreads({ open, theme }: LockThreadsProps) {
  const client = useLiveClient();
  const name: SortedColumn<LockThread> = {
    id: "name",
    label: "Thread",
    text: true,
    value: (thread) => thread.name,
    cell: (thread) => <ThreadName thread={thread} theme={theme} />,
  };
  const waiting: readonly SortedColumn<LockThread>[] = [
    name,
    {
      id: "wait",
      label: "Waiting",
      under: "of its time",
      width: 8.25,
      value: ({ wait }) => wait,
      cell: ({ wait }) => <Share value={wait} />,
    },
    {
      id: "waits",
      label: "Waits",
      under: "per second",
      width: 6.25,
      value: ({ waits_per_s }) => waits_per_s,
      cell: ({ waits_per_s }) => formatNumber(waits_per_s, "1/s"),
    },
    {
      id: "mean",
      label: "Each",
      under: "mean",
      width: 4.75,
      value: ({ mean_s }) => mean_s,
      cell: ({ mean_s }) => formatValue(mean_s, "s"),
    },
  ];
  const waking: readonly SortedColumn<LockThread>[] = [
    name,
    {
      id: "wakes",
      label: "Wakes",
      under: "per second",
      width: 6.25,
      value: ({ wakes_per_s }) => wakes_per_s,
      cell: ({ wakes_per_s }) => formatNumber(wakes_per_s, "1/s"),
    },
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
