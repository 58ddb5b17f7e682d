import { useState } from "react";
import { asProblem } from "../../api/problem";
import { changeRun } from "../../api/runs";
import { session } from "../../base/session";
import { useStore } from "../../base/useStore";
import { MAX_RUN_TAGS, MAX_TAG } from "../../wire/generated/limits";
import type { Problem, RunManifest, RunPatch } from "../../wire/generated/models";

interface RunChange {
  readonly change: (patch: RunPatch) => void;
  readonly busy: boolean;
  /** Problem of the last change. */
  readonly problem: Problem | null;
  /** The session is read-only. */
  readonly locked: boolean;
}

/** Changes a run's user-defined metadata. */
export function useRunChange(id: string, onChange: (run: RunManifest) => void): RunChange {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const locked = useStore(session)?.role === "viewer";
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

/** Maximum length and number of tags: equal to the schema of a run. */

/** Parse comma-separated tags, without duplicates. */
export function parseTags(text: string): string[] {
  const tags = text
    .split(",")
    .map((tag) => tag.trim().slice(0, MAX_TAG))
    .filter((tag) => tag !== "");
  return [...new Set(tags)].slice(0, MAX_RUN_TAGS);
}
