import { useState } from "react";
import { asProblem } from "../../api/problem";
import { role } from "../../api/role";
import { changeRun } from "../../api/runs";
import { useStore } from "../../base/useStore";
import type { Problem, RunManifest, RunPatch } from "../../wire/generated/models";

interface RunChange {
  readonly change: (patch: RunPatch) => void;
  readonly busy: boolean;
  /** Why the last change was refused. */
  readonly problem: Problem | null;
  /** This session may only watch. */
  readonly locked: boolean;
}

/** Changing what people say of a run. */
export function useRunChange(id: string, onChange: (run: RunManifest) => void): RunChange {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const locked = useStore(role) === "viewer";
  const ask = async (patch: RunPatch) => {
    setBusy(true);
    setProblem(null);
    try {
      onChange(await changeRun(id, patch));
    } catch (error) {
      setProblem(asProblem(error));
    }
    setBusy(false);
  };
  return { change: (patch) => void ask(patch), busy, problem, locked };
}
