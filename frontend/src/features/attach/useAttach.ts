/**
 * Feature `attach`: a process or group in, an attached target in the address out. It must not know
 * where the process was chosen.
 */

import { useCallback, useState } from "react";
import { attach, detach, startDemo, stopDemo } from "../../api/client";
import { asProblem } from "../../api/http";
import { attachedHref } from "../../base/route";
import { navigate } from "../../base/routing";
import type { AttachRequest, Problem, Target } from "../../wire/generated/models";
import { ownRoles, rulesOf } from "../roles/ownRoles";

interface Attaching {
  /** Process being attached, named by `busyOf`; "demo" while the demo program starts. */
  readonly busy: string | null;
  /** Problem of the last attempt. */
  readonly problem: Problem | null;
  /** `program`: name of the process if known, under which the user's roles are stored. */
  readonly attachTo: (
    request: AttachRequest,
    how?: "push" | "replace",
    program?: string | null,
  ) => void;
  readonly attachDemo: () => void;
  readonly fail: (problem: Problem | null) => void;
}

/** Row of the picker that a request belongs to. */
export function busyOf({ pid, group }: AttachRequest): string {
  return group ? `${group.kind}:${group.value ?? group.pid}` : `process:${pid}`;
}

/**
 * Send the user's roles along: the collector counts by role, so that runs and metrics use them too.
 */
function withOwnRoles(request: AttachRequest, program: string | null): AttachRequest {
  const rules = program === null ? [] : rulesOf(ownRoles.get(), program);
  return rules.length === 0 ? request : { ...request, role_rules: [...rules] };
}

/** Attach, and navigate to the target on success. */
export function useAttach(): Attaching {
  const [busy, setBusy] = useState<string | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);

  const go = useCallback(
    async (what: string, ask: () => Promise<{ id: string }>, how: "push" | "replace") => {
      setBusy(what);
      setProblem(null);
      try {
        const { id } = await ask();
        navigate(attachedHref(id, window.location.search), how);
      } catch (error) {
        setProblem(asProblem(error));
      }
      setBusy(null);
    },
    [],
  );
  const attachTo = useCallback(
    (request: AttachRequest, how: "push" | "replace" = "push", program: string | null = null) =>
      void go(busyOf(request), () => attach(withOwnRoles(request, program)), how),
    [go],
  );
  const attachDemo = useCallback(
    () => void go("demo", async () => (await startDemo()).target, "push"),
    [go],
  );
  return { busy, problem, attachTo, attachDemo, fail: setProblem };
}

interface Detaching {
  readonly detachFrom: (target: Target) => void;
  /** Problem of the last attempt. */
  readonly problem: Problem | null;
}

/** Detach from a target; the demo program is stopped as well. */
export function useDetach(): Detaching {
  const [problem, setProblem] = useState<Problem | null>(null);
  const detachFrom = (target: Target) => {
    setProblem(null);
    const ended = isDemo(target) ? stopDemo() : detach(target.id);
    ended.catch((error: unknown) => setProblem(asProblem(error)));
  };
  return { detachFrom, problem };
}

export function detachLabel(target: Target): string {
  return isDemo(target) ? "Stop the demo" : "Detach";
}

/** Whether a target is tidscope's demo program. */
function isDemo(target: Target): boolean {
  return target.process.command?.includes("tidscope_backend.demo") ?? false;
}
