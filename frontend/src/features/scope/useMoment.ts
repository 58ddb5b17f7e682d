import { useEffect } from "react";
import { parseMoment } from "../../base/moment";
import type { LiveClient } from "../../stream/client";
import { useLiveClient } from "../../stream/clients";
import type { Target } from "../../wire/generated/models";

/** Show the window, and select the thread, named by the address, once. */
export function useMoment(target: Pick<Target, "id" | "attached_unix_us"> | null): void {
  const client = useLiveClient();
  const id = target?.id ?? null;
  const attached_us = target?.attached_unix_us ?? 0;
  useEffect(() => {
    const moment = parseMoment(window.location.search);
    if (id === null || moment === null) return undefined;
    const since = (ms: number) => ms / 1000 - attached_us / 1e6;
    const t0_s = since(moment.from_ms);
    client.request({ window: { kind: "fixed", t0_s, t1_s: since(moment.to_ms) } });
    return moment.tid === null ? undefined : selectThread(client, moment.tid);
  }, [client, id, attached_us]);
}

/** Select a thread once the table lists it: its key is unknown until then. */
function selectThread(client: LiveClient, tid: number): () => void {
  client.request({ filter: `^${tid}$` });
  const end = client.table.subscribe(() => {
    const row = client.table.get()?.rows.find((each) => each.tid === tid);
    if (row === undefined) return;
    end();
    client.request({ filter: "", selected: row.key });
  });
  return end;
}
