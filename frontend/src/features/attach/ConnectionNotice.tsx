import { useNow, useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { Button } from "../../ui/Controls";
import { Notice } from "../../ui/Notices";
import type { Connection } from "../../wire/liveSocket";

/** Notice while the connection is down, with the next step; empty otherwise. */
export function ConnectionNotice() {
  const client = useLiveClient();
  const connection = useStore(client.connection);
  switch (connection.state) {
    case "waiting":
      return <Waiting connection={connection} onRetry={client.retryNow} />;
    case "denied":
    case "refused":
    case "closed":
      return (
        <Notice
          status="error"
          title="Connection rejected"
          actions={<Button onClick={client.retryNow}>Try again</Button>}
          urgent
        >
          {connection.state === "closed"
            ? "The page closed the connection."
            : `${connection.reason} (close code ${connection.code}). Reload the page: it may not match the version of the backend.`}
        </Notice>
      );
    default:
      return null;
  }
}

interface WaitingProps {
  readonly connection: Extract<Connection, { state: "waiting" }>;
  readonly onRetry: () => void;
}

function Waiting({ connection, onRetry }: WaitingProps) {
  const now = useNow(250);
  const seconds = Math.max(0, Math.ceil((connection.retry_unix_ms - now) / 1000));
  return (
    <Notice
      status="warning"
      title="Connection to the backend lost"
      actions={<Button onClick={onRetry}>Retry now</Button>}
    >
      <span data-testid="retry">{seconds === 0 ? "Retrying…" : `Retrying in ${seconds} s.`}</span>{" "}
      Data received so far stays on screen; a running collector keeps sampling. Reason:{" "}
      {connection.reason}.
    </Notice>
  );
}
