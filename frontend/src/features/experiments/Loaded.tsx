import type { ReactNode } from "react";
import type { Polled } from "../../api/usePolled";
import { Button } from "../../ui/Button";
import { EmptyState } from "../../ui/EmptyState";
import { ProblemNotice } from "../../ui/ProblemNotice";

interface LoadedProps<T> {
  readonly polled: Polled<T>;
  /** What is loaded, as in "Loading experiments…". */
  readonly what: string;
  readonly children: (value: T) => ReactNode;
}

/** What polling has brought; above it why the last request failed, before it that it is loaded. */
export function Loaded<T>({ polled, what, children }: LoadedProps<T>) {
  const { value, problem, refresh } = polled;
  return (
    <>
      {problem === null ? null : (
        <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
      )}
      {value !== null ? children(value) : null}
      {value === null && problem === null ? <EmptyState title={`Loading ${what}…`} /> : null}
    </>
  );
}
