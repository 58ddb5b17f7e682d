import { useRef } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/chartTheme";
import type { ChartTheme } from "../../chart/palette";
import { useLiveClient } from "../../stream/clients";
import type { ThreadLock } from "../../stream/locks";
import type { TakerRow } from "../../stream/takers";
import type { WakePartner } from "../../stream/wakes";
import { SortedTable } from "../../ui/SortedTable";
import type { SortedColumn } from "../../ui/sortedColumn";
import {
  estimated,
  meanColumn,
  rateColumn,
  shareColumn,
  textColumn,
  threadColumn,
} from "../facts/FactColumns";
import { FactMessage } from "../facts/FactMessage";
import styles from "../facts/facts.module.css";
import { useFacts } from "../facts/useFacts";

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
        <FactMessage view={current} />
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
    threadColumn(colours, "narrow"),
    rateColumn("wakes", "Wakes", ({ per_s }) => per_s, { room: "narrow" }),
    meanColumn("blocked", ({ blocked_s }) => blocked_s, { under: "wait", room: "narrow" }),
    meanColumn("delay", ({ delay_s }) => delay_s, {
      ...{ label: "Delay", under: "to run", room: "narrow" },
      tip: "Mean time from the wake-up until the woken thread was on a CPU.",
    }),
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
  textColumn("name", "Lock", ({ name }) => name),
  estimated(
    shareColumn("wait", "Waiting", ({ wait }) => wait, { under: "of its time", room: "narrow" }),
  ),
  estimated(rateColumn("waits", "Waits", ({ waits_per_s }) => waits_per_s, { room: "narrow" })),
  estimated(meanColumn("mean", ({ mean_s }) => mean_s, { room: "narrow" })),
];

const TAKERS: readonly SortedColumn<TakerRow>[] = [
  textColumn("name", "Ran meanwhile", ({ name }) => name),
  shareColumn("delay", "Run-queue delay", ({ delay }) => delay, { under: "of its time" }),
];
