import { useState } from "react";
import { detach, stopDemo } from "../../api/client";
import { asProblem } from "../../api/problem";
import type { Problem, Target } from "../../wire/generated/models";

interface Detaching {
  readonly detachFrom: (target: Target) => void;
  /** Why the last attempt was refused. */
  readonly problem: Problem | null;
}

/** Ends the attachment to a target; the demo program is stopped with it. */
export function useDetach(): Detaching {
  const [problem, setProblem] = useState<Problem | null>(null);
  const detachFrom = (target: Target) => {
    setProblem(null);
    const ended = isDemo(target) ? stopDemo() : detach(target.id);
    ended.catch((error: unknown) => setProblem(asProblem(error)));
  };
  return { detachFrom, problem };
}

/** What the button that ends an attachment says. */
export function detachLabel(target: Target): string {
  return isDemo(target) ? "Stop the demo" : "Detach";
}

/** Whether a target is the demo program that comes with tidscope. */
function isDemo(target: Target): boolean {
  return target.process.command?.includes("tidscope_backend.demo") ?? false;
}
