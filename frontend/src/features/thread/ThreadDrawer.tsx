import { useEffect, useRef, useState } from "react";
import { createStore } from "../../base/store";
import { useMedia } from "../../base/useMedia";
import { READABLE_MS, useSelected, useStore, useThrottled } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import type { ThreadView } from "../../stream/threadView";
import { isOneThread, type ViewRequest } from "../../stream/viewRequest";
import { Button } from "../../ui/Button";
import { Dialog } from "../../ui/Dialog";
import { drawerOpen } from "../steering/drawer";
import styles from "./ThreadDrawer.module.css";
import { ThreadFacts } from "./ThreadFacts";
import { ThreadPanel } from "./ThreadPanel";

/** Where there is no room beside the charts, it lies over them. */
const OVER = "(width <= 1199px)";

const selectedOf = (view: ViewRequest) => view.selected;

/** Whether the panel of the selected thread is open: until it is closed, and if Steer is not. */
export function useThreadOpen(): boolean {
  const selected = useSelected(useLiveClient().view, selectedOf);
  const closed = useStore(threadClosed);
  const steering = useStore(drawerOpen);
  return selected !== null && isOneThread(selected) && closed !== selected && !steering;
}

/** The panel of the selected thread, beside the charts or over them. */
export function ThreadDrawer() {
  const client = useLiveClient();
  const open = useThreadOpen();
  const over = useMedia(OVER);
  const selected = useSelected(client.view, selectedOf);
  useEffect(() => (open ? client.mountFacts("thread") : undefined), [client, open]);
  useEffect(() => {
    // Selected again later, it opens again.
    if (selected === null) threadClosed.set(null);
  }, [selected]);
  useEffect(() => () => threadClosed.set(null), []);
  if (!open || selected === null) {
    return null;
  }
  const close = () => threadClosed.set(selected);
  return over ? <Over onClose={close} /> : <Beside key={selected} onClose={close} />;
}

/** The panel's content; null: it is on its way. */
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
        <Button look="quiet" onClick={close} aria-label="Close">
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

/** Put the focus into the panel of the selected thread, or open it. */
export function focusThread(): void {
  threadClosed.set(null);
  queueMicrotask(() => document.querySelector<HTMLElement>('[data-panel="thread"]')?.focus());
}

/** The thread whose panel was closed; another one's opens. */
const threadClosed = createStore<string | null>(null);
