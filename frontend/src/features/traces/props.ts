import type { RunSummary, TraceAnalysis } from "../../wire/generated/models";
import type { TracesLink } from "./link";

/** Props of the page's parts: what is looked at, and how to look at something else. */
export interface LinkProps {
  readonly link: TracesLink;
  /** Change a part of it; "replace" leaves no step to go back to. */
  readonly onLink: (part: Partial<TracesLink>, how?: "push" | "replace") => void;
}

/** Props of views of what was analysed. */
export interface AnalysisProps extends LinkProps {
  readonly analysis: TraceAnalysis;
  /** Runs that a set of requests may be of, the newest first. */
  readonly runs: readonly RunSummary[];
}
