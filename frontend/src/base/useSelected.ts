import { useCallback, useSyncExternalStore } from "react";
import type { Readable } from "../model/contract";

/** A part of a store's value, compared by identity; drawn again only when that part changes. */
export function useSelected<T, P>(store: Readable<T>, part: (value: T) => P): P {
  const get = useCallback(() => part(store.get()), [store, part]);
  return useSyncExternalStore(store.subscribe, get);
}
