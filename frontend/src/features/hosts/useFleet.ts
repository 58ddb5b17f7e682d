import { useCallback, useState } from "react";
import { type Polled, usePolled } from "../../api/usePolled";
import { type HostsLink, periodOf } from "./link";

/**
 * The answer to a question about the window of a link, again and again while the window is live.
 * @param ask stable from render to render.
 * @param queryOf stable; the query at a time.
 */
export function useFleet<T>(
  ask: (query: string, signal?: AbortSignal) => Promise<T>,
  queryOf: (link: HostsLink, now_ms: number) => string,
  link: HostsLink,
): Polled<T> {
  // A link with the same question is the same: typing a search asks nothing.
  const [asked, setAsked] = useState(link);
  if (queryOf(asked, 0) !== queryOf(link, 0)) setAsked(link);
  const load = useCallback(
    (signal: AbortSignal) => ask(queryOf(asked, Date.now()), signal),
    [ask, queryOf, asked],
  );
  return usePolled(load, periodOf(link));
}
