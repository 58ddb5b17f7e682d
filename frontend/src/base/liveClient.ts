import { createContext, useContext } from "react";
import type { LiveClient } from "../model/contract";

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
