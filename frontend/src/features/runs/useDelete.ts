import { useState } from "react";
import { asProblem } from "../../api/problem";
import { deleteRun, restoreRun } from "../../api/runs";
import { toast } from "../../base/toasts";
import type { Problem, RunSummary } from "../../wire/generated/models";

interface Deleting {
  readonly remove: (run: RunSummary) => void;
  readonly restore: (run: RunSummary) => void;
  /** Why the last of it was refused. */
  readonly failed: Problem | null;
}

/** Deleting, which can be undone for an hour. */
export function useDelete(onDone: () => void): Deleting {
  const [failed, setFailed] = useState<Problem | null>(null);
  const tried = async (what: () => Promise<unknown>, then: () => void) => {
    setFailed(null);
    try {
      await what();
      then();
    } catch (error) {
      setFailed(asProblem(error));
    }
    onDone();
  };
  const restore = (run: RunSummary) =>
    void tried(
      () => restoreRun(run.id),
      () => toast(`Restored ${run.name}.`),
    );
  const remove = (run: RunSummary) =>
    void tried(
      () => deleteRun(run.id),
      () => toast(`Deleted ${run.name}.`, { label: "Undo", run: () => restore(run) }),
    );
  return { remove, restore, failed };
}
