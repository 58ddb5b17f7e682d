/** The smallest store that useSyncExternalStore can read. */

import type { Writable } from "./contract";

/** A store with a first value; setting the value it has already tells nobody. */
export function createStore<T>(initial: T): Writable<T> {
  let value = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}
