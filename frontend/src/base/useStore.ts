import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import type { Readable } from "./store";

/** The value of a store; the component is drawn again when it changes. */
export function useStore<T>(store: Readable<T>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}

/** A part of a store's value, compared by identity; drawn again only when that part changes. */
export function useSelected<T, P>(store: Readable<T>, part: (value: T) => P): P {
  const get = useCallback(() => part(store.get()), [store, part]);
  return useSyncExternalStore(store.subscribe, get);
}

/** Period of numbers that a person reads, for `useThrottled`. */
export const READABLE_MS = 400;
/** A browser that always has something to draw draws this late what is read. */
const IDLE_MS = 200;

/**
 * The value of a store that changes more often than a person can read: drawn again at most once a
 * `periodMs`, and always with the newest value. It waits until the browser has nothing to draw, for
 * `IDLE_MS` at most: what moves comes first.
 */
export function useThrottled<T>(store: Readable<T>, periodMs: number): T {
  const subscribe = useCallback(
    (listener: () => void) => {
      let cancel: (() => void) | null = null;
      let last_ms = Number.NEGATIVE_INFINITY;
      const notify = () => {
        cancel = null;
        last_ms = performance.now();
        listener();
      };
      const end = store.subscribe(() => {
        if (cancel) return;
        const timer = window.setTimeout(
          () => {
            cancel = whenIdle(notify);
          },
          Math.max(0, last_ms + periodMs - performance.now()),
        );
        cancel = () => window.clearTimeout(timer);
      });
      return () => {
        cancel?.();
        end();
      };
    },
    [store, periodMs],
  );
  return useSyncExternalStore(subscribe, store.get);
}

/** Call when the browser has nothing to draw; at once where it cannot tell. */
function whenIdle(call: () => void): (() => void) | null {
  if (typeof requestIdleCallback === "undefined") {
    call();
    return null;
  }
  const request = requestIdleCallback(call, { timeout: IDLE_MS });
  return () => cancelIdleCallback(request);
}

/** Whether a media query fits. */
export function useMedia(query: string): boolean {
  const subscribe = useCallback(
    (listener: () => void) => {
      const list = window.matchMedia(query);
      list.addEventListener("change", listener);
      return () => list.removeEventListener("change", listener);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}

/** The time of day in Unix ms, updated every `periodMs`. */
export function useNow(periodMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = window.setInterval(() => setNow(Date.now()), periodMs);
    return () => window.clearInterval(timer);
  }, [periodMs]);
  return now;
}
