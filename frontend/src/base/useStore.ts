import { useCallback, useEffect, useState, useSyncExternalStore } from "react";
import type { Readable } from "./store";

/** Return a store's value; the component re-renders when the value changes. */
export function useStore<T>(store: Readable<T>): T {
  return useSyncExternalStore(store.subscribe, store.get);
}

/**
 * Return a part of a store's value, compared by identity; re-renders only when that part changes.
 */
export function useSelected<T, P>(store: Readable<T>, part: (value: T) => P): P {
  const get = useCallback(() => part(store.get()), [store, part]);
  return useSyncExternalStore(store.subscribe, get);
}

/** Update period for numbers read by a person, in ms, for `useThrottled`. */
export const READABLE_MS = 400;
/** Maximum delay of text updates in a browser that is never idle, in ms. */
const IDLE_MS = 200;

/**
 * Return the value of a fast-changing store: re-renders at most once per `periodMs`, always with
 * the latest value. Each render waits until the browser is idle, for `IDLE_MS` at most: moving
 * charts take priority.
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

/** Call when the browser is idle; at once if the browser cannot report idleness. */
function whenIdle(call: () => void): (() => void) | null {
  if (typeof requestIdleCallback === "undefined") {
    call();
    return null;
  }
  const request = requestIdleCallback(call, { timeout: IDLE_MS });
  return () => cancelIdleCallback(request);
}

/** Whether a media query matches. */
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
