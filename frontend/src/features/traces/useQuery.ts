import { useCallback } from "react";
import { type Polled, usePolled } from "../../api/usePolled";

/**
 * The answer to a query.
 * @param load stable from render to render.
 * @param query null disables loading.
 */
export function useQuery<T>(
  load: (query: string, signal?: AbortSignal) => Promise<T>,
  query: string | null,
  periodMs: number | null = null,
): Polled<T> {
  const ask = useCallback((signal: AbortSignal) => load(query ?? "", signal), [load, query]);
  return usePolled(query === null ? null : ask, periodMs);
}
