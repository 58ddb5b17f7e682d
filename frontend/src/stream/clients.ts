/** Clients of workers, as pages get them: pages do not start workers. */

import { createContext, useContext, useEffect, useState } from "react";
import type { LiveClient } from "./client";
import type { RunSource } from "./runWindow";

/** The app's one live client. */
export const LiveClientContext = createContext<LiveClient | null>(null);

/** The app's one live client. */
export function useLiveClient(): LiveClient {
  const client = useContext(LiveClientContext);
  if (client === null) {
    throw new Error("no live client around this component");
  }
  return client;
}

/** Makes clients that read a run. */
export type RunClients = (run: RunSource) => LiveClient;

export const RunClientsContext = createContext<RunClients | null>(null);

/** A client that reads this run for as long as the page is there; null until it is made. */
export function useRunClient(run: RunSource): LiveClient | null {
  const make = useContext(RunClientsContext);
  const [client, setClient] = useState<LiveClient | null>(null);
  useEffect(() => {
    const made = make?.(run) ?? null;
    setClient(made);
    return () => {
      setClient(null);
      made?.dispose();
    };
  }, [make, run]);
  return client;
}
