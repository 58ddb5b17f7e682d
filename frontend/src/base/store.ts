/** The smallest store that useSyncExternalStore can read. */

/** Something that changes; `subscribe` and `get` fit useSyncExternalStore (they are bound). */
export interface Readable<T> {
  /** The value now; the same object until it changes. */
  readonly get: () => T;
  /** Calls the listener after each change; returns what ends it. */
  readonly subscribe: (listener: () => void) => () => void;
}

/** A store that the page sets itself. */
export interface Writable<T> extends Readable<T> {
  readonly set: (value: T) => void;
}

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
