import { useStore } from "../base/useStore";
import { useLiveClient } from "../pages/clients";
import { Mark, type MarkKind } from "../ui/Mark";
import type { Connection } from "../wire/liveSocket";
import styles from "./ConnectionState.module.css";

const SHOWN: Readonly<Record<Connection["state"], readonly [MarkKind, string]>> = {
  connecting: ["unknown", "Connecting"],
  open: ["good", "Connected"],
  waiting: ["fair", "Disconnected"],
  denied: ["bad", "Not signed in"],
  refused: ["bad", "Refused"],
  closed: ["fair", "Closed"],
};

/** Whether messages flow, in one word. */
export function ConnectionState() {
  const connection = useStore(useLiveClient().connection);
  const [kind, word] = SHOWN[connection.state];
  return (
    <span className={styles.state} role="status" data-connection={connection.state}>
      <Mark kind={kind} />
      <span className={styles.word}>{word}</span>
    </span>
  );
}
