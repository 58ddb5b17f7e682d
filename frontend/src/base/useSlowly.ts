import { useCallback, useSyncExternalStore } from "react";
import type { Readable } from "../model/contract";

/**
 * The value of a store that changes more often than a person can read: drawn again at most once a
 * `periodMs`, and always with the newest value.
 */
export function useSlowly<T>(store: Readable<T>, periodMs: number): T {
  const subscribe = useCallback(
    (listener: () => void) => {
      let timer = 0;
      let told_ms = Number.NEGATIVE_INFINITY;
      const tell = () => {
        timer = 0;
        told_ms = performance.now();
        listener();
      };
      const end = store.subscribe(() => {
        if (timer === 0) {
          timer = window.setTimeout(tell, Math.max(0, told_ms + periodMs - performance.now()));
        }
      });
      return () => {
        window.clearTimeout(timer);
        end();
      };
    },
    [store, periodMs],
  );
  return useSyncExternalStore(subscribe, store.get);
}

/** For numbers. */
export const READABLE_MS = 400;
