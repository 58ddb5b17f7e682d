/** Provides worker clients to pages, which never start workers themselves. */

import { createContext, useContext, useEffect, useState } from "react";
import type { LiveClient } from "./client";
import type { RunSource } from "./runWindow";

/** The app's only live client. */
export const LiveClientContext = createContext<LiveClient | null>(null);

/** Return the app's only live client. */
export function useLiveClient(): LiveClient {
  const client = useContext(LiveClientContext);
  if (client === null) {
    throw new Error("no live client around this component");
  }
  return client;
}

/** Creates clients that read a run. */
export type RunClients = (run: RunSource) => LiveClient;

export const RunClientsContext = createContext<RunClients | null>(null);

/** Return a client of this run for the component's lifetime; null until created. */
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
