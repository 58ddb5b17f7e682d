import { useRef } from "react";
import { theme } from "../../../../base/theme";
import { useStore } from "../../../../base/useStore";
import type { ChartTheme } from "../../../../charts/palette";
import { formatNumber, formatValue } from "../../../../model/format";
import type { ThreadLock } from "../../../../model/locks";
import type { TakerRow } from "../../../../model/takers";
import type { WakePartner } from "../../../../model/wakes";
import { useLiveClient } from "../../../clients";
import { CHART_THEMES } from "../chartTheme";
import styles from "./facts.module.css";
import { Share } from "./Share";
import { type SortedColumn, SortedTable } from "./SortedTable";
import { ThreadName } from "./ThreadName";
import { useFacts } from "./useFacts";

const partnerKey = ({ key }: WakePartner) => key;
const lockKey = ({ lock }: ThreadLock) => String(lock);
const takerKey = ({ key }: TakerRow) => key;

/** Of the selected thread: its locks, who wakes it, whom it wakes, and what runs instead of it. */
export function ThreadFacts() {
  const client = useLiveClient();
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("thread_facts", place);
  const colours = CHART_THEMES[useStore(theme)];
  const { selected } = useStore(client.view);
  const current = view !== null && view.key === selected ? view : null;
  if (current === null || current.state !== "ok") {
    return (
      <div ref={place}>
        <p className={styles.detail}>
          {current?.state === "absent" ? `${current.reason}.` : "Waiting for two readings…"}
        </p>
      </div>
    );
  }
  return (
    <div ref={place} className={styles.lists}>
      <Section title="Who wakes it">
        <Partners
          label="Who wakes it"
          rows={current.wakers}
          theme={colours}
          none="Nothing woke it."
        />
      </Section>
      <Section title="Whom it wakes">
        <Partners
          label="Whom it wakes"
          rows={current.wakees}
          theme={colours}
          none="It woke no thread of this process."
        />
      </Section>
      <Section title="Its locks">
        <SortedTable
          label="Its locks"
          columns={LOCKS}
          rows={current.locks}
          keyOf={lockKey}
          sortedBy="wait"
          first={6.5}
          none="It waited for no lock."
        />
      </Section>
      <Section title="What runs instead of it">
        <SortedTable
          label="What runs instead of it"
          columns={TAKERS}
          rows={current.takers}
          keyOf={takerKey}
          sortedBy="delay"
          first={8}
          none="It was not delayed."
        />
      </Section>
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  readonly children: React.ReactNode;
}

function Section({ title, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

interface PartnersProps {
  readonly label: string;
  readonly rows: readonly WakePartner[];
  readonly theme: ChartTheme;
  readonly none: string;
}

function Partners({ label, rows, theme: colours, none }: PartnersProps) {
  const client = useLiveClient();
  const columns: readonly SortedColumn<WakePartner>[] = [
    {
      id: "name",
      label: "Thread",
      text: true,
      value: ({ name }) => name,
      cell: (partner) => <ThreadName thread={partner} theme={colours} short />,
    },
    {
      id: "wakes",
      label: "Wakes",
      under: "per s",
      width: 4.75,
      value: ({ per_s }) => per_s,
      cell: ({ per_s }) => formatNumber(per_s, "1/s"),
    },
    {
      id: "blocked",
      label: "Each",
      under: "wait",
      width: 4.75,
      value: ({ blocked_s }) => blocked_s,
      cell: ({ blocked_s }) => formatValue(blocked_s, "s"),
    },
    {
      id: "delay",
      label: "Delay",
      under: "to run",
      tip: "Mean time from the wake-up until the woken thread was on a CPU.",
      width: 4.75,
      value: ({ delay_s }) => delay_s,
      cell: ({ delay_s }) => formatValue(delay_s, "s"),
    },
  ];
  return (
    <SortedTable
      label={label}
      columns={columns}
      rows={rows}
      keyOf={partnerKey}
      sortedBy="wakes"
      first={8.5}
      onPress={({ tid, key }) => (tid === null ? undefined : client.select(key))}
      none={none}
    />
  );
}

const LOCKS: readonly SortedColumn<ThreadLock>[] = [
  {
    id: "name",
    label: "Lock",
    text: true,
    value: ({ name }) => name,
    cell: ({ name }) => name,
  },
  {
    id: "wait",
    label: "Waiting",
    under: "of its time",
    width: 7.25,
    value: ({ wait }) => wait,
    cell: ({ wait }) => <Share value={wait} />,
  },
  {
    id: "waits",
    label: "Waits",
    under: "per s",
    width: 4.5,
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

const TAKERS: readonly SortedColumn<TakerRow>[] = [
  {
    id: "name",
    label: "Ran meanwhile",
    text: true,
    value: ({ name }) => name,
    cell: ({ name }) => name,
  },
  {
    id: "delay",
    label: "Run-queue delay",
    under: "of its time",
    width: 8.25,
    value: ({ delay }) => delay,
    cell: ({ delay }) => <Share value={delay} />,
  },
];
