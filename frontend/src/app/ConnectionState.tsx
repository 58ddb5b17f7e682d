import { useLiveClient } from "../base/liveClient";
import { useReadable } from "../base/useReadable";
import type { Connection } from "../model/contract";
import { Mark, type MarkKind } from "../ui/Mark";
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
  const connection = useReadable(useLiveClient().connection);
  const [kind, word] = SHOWN[connection.state];
  return (
    <span className={styles.state} role="status" data-connection={connection.state}>
      <Mark kind={kind} />
      <span className={styles.word}>{word}</span>
    </span>
  );
}
