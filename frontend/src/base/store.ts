/**
 * The smallest store that useSyncExternalStore can read. Folder `base`: browser state as stores
 * (address, session, theme, keys). It imports no other folder.
 */

/** An observable value; `subscribe` and `get` fit useSyncExternalStore (they are bound). */
export interface Readable<T> {
  /** The current value; the same object until the value changes. */
  readonly get: () => T;
  /** Call the listener after each change; returns the unsubscribe function. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** A store that the page sets. */
export interface Writable<T> extends Readable<T> {
  readonly set: (value: T) => void;
}

/** Create a store with a first value. Setting an equal value notifies nobody. */
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
