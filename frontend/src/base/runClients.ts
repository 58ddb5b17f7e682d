import { createContext, useContext, useEffect, useState } from "react";
import type { LiveClient, RunSource } from "../model/contract";

/** Makes clients that read a run. */
export type RunClients = (run: RunSource) => LiveClient;

/** Given by who wires the app: pages do not start workers. */
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
