import { useSyncExternalStore } from "react";
import type { Readable } from "../model/contract";

/** The value of a store; the component is drawn again when it changes. */
export function useReadable<T>(store: Readable<T>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}
