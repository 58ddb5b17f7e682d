import { useCallback, useEffect, useRef, useState } from "react";
import type { Problem } from "../wire/generated/models";
import { asProblem } from "./problem";

/** Pause before who is asked once is asked again, as long as it cannot be reached. */
const RETRY_MS = 5000;

/** What polling has brought so far. */
export interface Polled<T> {
  /** The last answer; kept when a later request fails. */
  readonly value: T | null;
  /** Why the last request failed; null if it did not. */
  readonly problem: Problem | null;
  readonly loading: boolean;
  /** Ask again now. */
  readonly refresh: () => void;
}

/**
 * Ask again and again while the page is visible, one request at a time.
 *
 * @param load stable from render to render; null asks nothing.
 * @param periodMs pause between an answer and the next question; null asks once, and again while the
 *   backend is unreachable.
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
