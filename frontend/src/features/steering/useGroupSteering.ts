import { useCallback, useEffect, useRef, useState } from "react";
import {
  listPolicies,
  releaseTarget,
  restartSearch,
  steer,
  steeringOptions,
} from "../../api/client";
import { asProblem } from "../../api/problem";
import { usePolled } from "../../api/usePolled";
import { session } from "../../base/session";
import { useStore } from "../../base/useStore";
import type {
  PolicyInfo,
  Problem,
  Role,
  SteeringOptions,
  SteerRequest,
  Target,
} from "../../wire/generated/models";
import type { Pending } from "./useSteering";

/** Steering of a group's programs for the drawer, with operations. */
export interface GroupSteerState {
  readonly policies: readonly PolicyInfo[] | null;
  readonly options: SteeringOptions | null;
  readonly role: Role | null;
  /** The group, from the newest answer or message. */
  readonly target: Target;
  readonly pending: Pending | null;
  readonly problem: Problem | null;
  readonly steer: (request: SteerRequest, text: string) => void;
  /** Restart one program's search; null for all. */
  readonly restart: (pid: number | null) => void;
  readonly release: (pid: number | null) => void;
  /** Examine the programs again. */
  readonly refresh: () => void;
}

/** Steering of a group; requests policies and options while `open`. */
export function useGroupSteering(target: Target, open: boolean): GroupSteerState {
  const { id } = target;
  const asks = open && target.state === "attached";
  const policies = usePolled(open ? listPolicies : null, null);
  const loadOptions = useCallback((signal: AbortSignal) => steeringOptions(id, signal), [id]);
  const options = usePolled(asks ? loadOptions : null, null);
  const { refresh } = options;
  const role = useStore(session)?.role ?? null;
  const [answer, setAnswer] = useState<{ instead: Target; target: Target } | null>(null);
  const [pending, setPending] = useState<Pending | null>(null);
  const [refusal, setRefusal] = useState<Problem | null>(null);
  const running = useRef<Pending | null>(null);
  // The answer is valid until the next, newer message about the target.
  const current = answer !== null && answer.instead === target ? answer.target : target;

  // Examined again when steering of any program starts or ends, for whatever reason.
  const steered = (current.programs ?? []).map(({ pid }) => pid).join();
  const examined = useRef(steered);
  useEffect(() => {
    if (examined.current !== steered) {
      examined.current = steered;
      refresh();
    }
  }, [steered, refresh]);

  const act = async (ask: () => Promise<Target>, next: Pending) => {
    // One action at a time, except that a release is sent at once.
    if (running.current !== null && !next.key.startsWith("release")) return;
    running.current = next;
    setPending(next);
    setRefusal(null);
    try {
      const answered = await ask();
      setAnswer({ instead: target, target: answered });
    } catch (error) {
      setRefusal(asProblem(error));
      refresh();
    }
    if (running.current === next) {
      running.current = null;
      setPending(null);
    }
  };
  const of = (pid: number | null) => (pid === null ? "" : `:${pid}`);

  return {
    policies: policies.value?.policies ?? null,
    options: options.value,
    role,
    target: current,
    pending,
    problem: refusal ?? policies.problem ?? (options.value === null ? options.problem : null),
    refresh,
    steer: (request, text) => void act(() => steer(id, request), { key: "steer", text }),
    restart: (pid) =>
      void act(() => restartSearch(id, pid), {
        key: `restart${of(pid)}`,
        text: "Restarting search…",
      }),
    release: (pid) =>
      void act(() => releaseTarget(id, pid), { key: `release${of(pid)}`, text: "Releasing…" }),
  };
}
