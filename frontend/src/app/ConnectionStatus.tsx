import { useStore } from "../base/useStore";
import { useLiveClient } from "../stream/clients";
import { type Status, StatusIcon } from "../ui/StatusIcon";
import type { Connection } from "../wire/liveSocket";
import styles from "./ConnectionStatus.module.css";

const SHOWN: Readonly<Record<Connection["state"], readonly [Status, string]>> = {
  connecting: ["unknown", "Connecting"],
  open: ["ok", "Connected"],
  waiting: ["warning", "Disconnected"],
  denied: ["error", "Rejected"],
  refused: ["error", "Rejected"],
  closed: ["unknown", "Not signed in"],
};

/** Whether messages flow, in one word. */
export function ConnectionStatus() {
  const connection = useStore(useLiveClient().connection);
  const [status, label] = SHOWN[connection.state];
  return (
    <span className={styles.state} role="status" data-connection={connection.state}>
      <StatusIcon status={status} />
      <span className={styles.word}>{label}</span>
    </span>
  );
}
