/** Feature `thread`: the worker's view of the selected thread in, a drawer out. */

import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { createStore } from "../../base/store";
import { theme } from "../../base/theme";
import { READABLE_MS, useMedia, useSelected, useStore, useThrottled } from "../../base/useStore";
import { CHART_THEMES, type ChartTheme } from "../../chart/palette";
import { useLiveClient } from "../../stream/client";
import { nameAndPlace } from "../../stream/facts/places";
import type { ThreadLock } from "../../stream/locks";
import type { TakerRow } from "../../stream/takers";
import type { ThreadView } from "../../stream/threadView";
import { isOneThread, type ViewRequest } from "../../stream/viewRequest";
import type { WakePartner } from "../../stream/wakes";
import { Button } from "../../ui/Controls";
import { Dialog } from "../../ui/Overlays";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import {
  estimated,
  FactMessage,
  meanColumn,
  rateColumn,
  shareColumn,
  textColumn,
  threadColumn,
  useFacts,
} from "../facts/FactColumns";
import factsStyles from "../facts/facts.module.css";
import { drawerOpen } from "../steering/SteerProvider";
import styles from "./ThreadDrawer.module.css";
import { ThreadPanel } from "./ThreadPanel";

/** The last element pressed, and its position in the window. */
interface Pressed {
  readonly element: Element;
  readonly top: number;
}

/** Keep the pressed element in place when its action changes the layout. */
export function useHeldPlace(change: unknown): void {
  const pressed = useRef<Pressed | null>(null);
  const before = useRef(change);
  useEffect(() => {
    const note = ({ target }: Event) => {
      pressed.current =
        target instanceof Element
          ? { element: target, top: target.getBoundingClientRect().top }
          : null;
    };
    window.addEventListener("pointerdown", note, { capture: true });
    return () => window.removeEventListener("pointerdown", note, { capture: true });
  }, []);
  useLayoutEffect(() => {
    if (change === before.current) {
      return;
    }
    before.current = change;
    const { current } = pressed;
    pressed.current = null;
    if (current?.element.isConnected !== true) {
      return;
    }
    const moved = current.element.getBoundingClientRect().top - current.top;
    if (Math.abs(moved) >= 1) {
      window.scrollBy({ top: moved, behavior: "instant" });
    }
  }, [change]);
}

/** Media query for narrow pages, where the drawer covers the charts. */
const OVER = "(width <= 1199px)";

const selectedOf = (view: ViewRequest) => view.selected;

/** Whether the panel of the selected thread is open: not closed, and not replaced by Steer. */
export function useThreadOpen(): boolean {
  const selected = useSelected(useLiveClient().view, selectedOf);
  const closed = useStore(threadClosed);
  const steering = useStore(drawerOpen);
  return selected !== null && isOneThread(selected) && closed !== selected && !steering;
}

/** The panel of the selected thread, beside or over the charts. */
export function ThreadDrawer() {
  const client = useLiveClient();
  const open = useThreadOpen();
  const over = useMedia(OVER);
  const selected = useSelected(client.view, selectedOf);
  useEffect(() => (open ? client.mountFacts("thread") : undefined), [client, open]);
  useEffect(() => {
    // Selecting the thread again reopens its panel.
    if (selected === null) threadClosed.set(null);
  }, [selected]);
  useEffect(() => () => threadClosed.set(null), []);
  if (!open || selected === null) {
    return null;
  }
  const close = () => threadClosed.set(selected);
  return over ? <Over onClose={close} /> : <Beside key={selected} onClose={close} />;
}

/** The panel's content; null while loading. */
function useThreadView(): ThreadView | null {
  const client = useLiveClient();
  const view = useThrottled(client.facts.thread, READABLE_MS);
  const selected = useSelected(client.view, selectedOf);
  return view?.key === selected ? view : null;
}

interface PlaceProps {
  readonly onClose: () => void;
}

function Over({ onClose }: PlaceProps) {
  const view = useThreadView();
  return (
    <Dialog title={titleOf(view)} onClose={onClose}>
      <ThreadPanel view={view}>
        <ThreadFacts />
      </ThreadPanel>
    </Dialog>
  );
}

function Beside({ onClose }: PlaceProps) {
  const view = useThreadView();
  const element = useRef<HTMLElement>(null);
  const [before] = useState(() => document.activeElement);
  const title = titleOf(view);
  const close = () => {
    const inside = element.current?.contains(document.activeElement) === true;
    onClose();
    if (inside && before instanceof HTMLElement && before.isConnected) {
      before.focus();
    }
  };
  return (
    <aside
      ref={element}
      className={`surface ${styles.drawer}`}
      aria-label={title}
      data-panel="thread"
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key === "Escape") {
          event.stopPropagation();
          close();
        }
      }}
    >
      <header className={styles.head}>
        <h2 title={title}>{title}</h2>
        <Button variant="quiet" onClick={close} aria-label="Close">
          ×
        </Button>
      </header>
      <div className={styles.body}>
        <ThreadPanel view={view}>
          <ThreadFacts />
        </ThreadPanel>
      </div>
    </aside>
  );
}

function titleOf(view: ThreadView | null): string {
  return view === null ? "Thread" : `Thread ${view.name} (${view.tid})`;
}

/** Focus the panel of the selected thread, or open it. */
export function focusThread(): void {
  threadClosed.set(null);
  queueMicrotask(() => document.querySelector<HTMLElement>('[data-panel="thread"]')?.focus());
}

/** The thread whose panel was closed; another thread's panel opens. */
const threadClosed = createStore<string | null>(null);

const partnerKey = ({ key }: WakePartner) => key;
const lockKey = ({ lock }: ThreadLock) => String(lock);
const takerKey = ({ key }: TakerRow) => key;

/** Facts of the selected thread: its locks, wakers, wakees, and CPU competitors. */
function ThreadFacts() {
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
    <div ref={place} className={factsStyles.lists}>
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
  textColumn<TakerRow>("name", "Ran meanwhile", nameAndPlace),
  shareColumn("delay", "Run-queue delay", ({ delay }) => delay, { under: "of its time" }),
];
