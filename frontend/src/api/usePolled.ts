import { useCallback, useEffect, useRef, useState } from "react";
import type { Problem } from "../wire/generated/models";
import { asProblem } from "./http";

/** Retry period while the backend is unreachable, for requests made once, in ms. */
const RETRY_MS = 5000;

/** Result of polling so far. */
export interface Polled<T> {
  /** The last answer; kept if a later request fails. */
  readonly value: T | null;
  /** Problem of the last request, or null if it succeeded. */
  readonly problem: Problem | null;
  readonly loading: boolean;
  /** Poll again now. */
  readonly refresh: () => void;
}

/**
 * Poll while the page is visible, one request at a time.
 * @param load stable from render to render; null disables polling.
 * @param periodMs pause between an answer and the next request; null loads once, with retries while
 * the backend is unreachable.
 */
export function usePolled<T>(
  load: ((signal: AbortSignal) => Promise<T>) | null,
  periodMs: number | null,
): Polled<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [loading, setLoading] = useState(load !== null);
  const again = useRef<() => void>(() => undefined);

  useEffect(() => {
    if (load === null) {
      return;
    }
    const abort = new AbortController();
    let timer = 0;
    let pause = periodMs;
    const round = async () => {
      setLoading(true);
      pause = periodMs;
      try {
        setValue(await load(abort.signal));
        setProblem(null);
      } catch (error) {
        if (abort.signal.aborted) {
          return;
        }
        const found = asProblem(error);
        setProblem(found);
        if (found.status === 0) pause ??= RETRY_MS;
      }
      if (!abort.signal.aborted) {
        setLoading(false);
        schedule();
      }
    };
    const schedule = () => {
      if (pause !== null) {
        timer = window.setTimeout(() => (document.hidden ? schedule() : void round()), pause);
      }
    };
    again.current = () => {
      window.clearTimeout(timer);
      void round();
    };
    void round();
    return () => {
      again.current = () => undefined;
      abort.abort();
      window.clearTimeout(timer);
    };
  }, [load, periodMs]);

  const refresh = useCallback(() => again.current(), []);
  return { value, problem, loading, refresh };
}
