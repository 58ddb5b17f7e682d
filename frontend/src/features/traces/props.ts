import { useCallback } from "react";
import { type Polled, usePolled } from "../../api/usePolled";
import type { RunSummary, TraceAnalysis } from "../../wire/generated/models";
import type { TracesLink } from "./link";

/** Props of the page's parts: the state, and the callback for changes. */
export interface LinkProps {
  readonly link: TracesLink;
  /** Change a part of the state; "replace" adds no history entry. */
  readonly onLink: (part: Partial<TracesLink>, how?: "push" | "replace") => void;
}

/** Props of views on an analysis. */
export interface AnalysisProps extends LinkProps {
  readonly analysis: TraceAnalysis;
  /** Runs selectable for a set of requests, newest first. */
  readonly runs: readonly RunSummary[];
}

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
