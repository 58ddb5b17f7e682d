import { useCallback, useEffect, useRef, useState } from "react";
import {
  listPolicies,
  releaseTarget,
  restartSearch,
  steer,
  steeringOptions,
} from "../../api/client";
import { asProblem } from "../../api/http";
import { usePolled } from "../../api/usePolled";
import { session } from "../../base/session";
import { useStore } from "../../base/useStore";
import type {
  PolicyInfo,
  Problem,
  PrometheusCounter,
  Role,
  Steering,
  SteeringOptions,
  SteerRequest,
  Target,
} from "../../wire/generated/models";
import { afterRefusal, afterSteering, type Edits, NO_EDITS, requestOf, undoLabel } from "./draft";

/** An action that can be undone. */
export interface Undo {
  /** Description of the action. */
  readonly done: string;
  readonly label: string;
  readonly request: SteerRequest;
}

/** An action in progress. */
export interface Pending {
  /** The pressed control. */
  readonly key: string;
  readonly text: string;
}

/** Steering of a target for the drawer, with operations. */
export interface SteerState {
  readonly policies: readonly PolicyInfo[] | null;
  readonly options: SteeringOptions | null;
  readonly role: Role | null;
  /** The current steering, from the newest answer or message. */
  readonly steering: Steering | null;
  readonly pending: Pending | null;
  /** Problem of the last action or query. */
  readonly problem: Problem | null;
  readonly undo: Undo | null;
  readonly edits: Edits;
  readonly setEdits: (edits: Edits) => void;
  /** The Prometheus counter last sent. */
  readonly counter: PrometheusCounter | null;
  readonly steer: (request: SteerRequest, pending: Pending) => void;
  readonly restart: () => void;
  readonly release: () => void;
}

/** Steering of the target when an answer arrived, and the answer. */
interface Answer {
  readonly instead: Steering | null;
  readonly steering: Steering | null;
}

/** Steering of a target; requests policies and options while `open`. */
export function useSteering(target: Target, open: boolean): SteerState {
  const { id } = target;
  const asks = open && target.state === "attached";
  const policies = usePolled(open ? listPolicies : null, null);
  const role = useStore(session)?.role ?? null;
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [pending, setPending] = useState<Pending | null>(null);
  const [refusal, setRefusal] = useState<Problem | null>(null);
  const [undo, setUndo] = useState<Undo | null>(null);
  const [edits, setEdits] = useState<Edits>(NO_EDITS);
  const [counter, setCounter] = useState<PrometheusCounter | null>(null);

  // The answer is valid until the next, newer message about the target.
  const current = target.steering;
  const steering = answer !== null && answer.instead === current ? answer.steering : current;

  // A query opens knobs and signals in the program. It is therefore made only when the drawer
  // opens, a control loop starts or ends, or after a refusal.
  const loadOptions = useCallback((signal: AbortSignal) => steeringOptions(id, signal), [id]);
  const options = usePolled(asks ? loadOptions : null, null);
  const { refresh } = options;
  const since = steering?.since_unix_us ?? null;
  const describedSince = useRef(since);
  useEffect(() => {
    if (describedSince.current !== since) {
      describedSince.current = since;
      refresh();
    }
  }, [since, refresh]);

  const running = useRef<Pending | null>(null);
  const act = async (
    ask: () => Promise<Target>,
    next: Pending,
    then: (before: Steering | null) => void,
    otherwise: () => void = () => undefined,
  ) => {
    // One action at a time, except that a release is sent at once. Buttons stay enabled: disabled
    // ones would lose the focus.
    if (running.current !== null && next.key !== "release") return;
    running.current = next;
    setPending(next);
    setRefusal(null);
    try {
      const answered = await ask();
      setAnswer({ instead: current, steering: answered.steering });
      then(steering);
    } catch (error) {
      setRefusal(asProblem(error));
      refresh();
      otherwise();
    }
    if (running.current === next) {
      running.current = null;
      setPending(null);
    }
  };
  const back = (before: Steering | null, after: string | null, done: string): Undo | null =>
    before === null || before.sweep != null
      ? null
      : { done, label: undoLabel(before, after), request: requestOf(before, counter) };

  return {
    policies: policies.value?.policies ?? null,
    options: options.value,
    role,
    steering,
    pending,
    problem: refusal ?? policies.problem ?? (options.value === null ? options.problem : null),
    undo,
    edits,
    setEdits,
    counter,
    steer: (request, next) =>
      void act(
        () => steer(id, request),
        next,
        (before) => {
          setUndo(back(before, request.policy, doneText(before, request)));
          setEdits((edited) =>
            afterSteering(edited, next.key === "change" ? null : request.policy),
          );
          if (request.prometheus) setCounter(request.prometheus);
        },
        () => setEdits(afterRefusal),
      ),
    restart: () =>
      void act(
        () => restartSearch(id),
        { key: "restart", text: "Restarting search…" },
        () => undefined,
      ),
    release: () =>
      void act(
        () => releaseTarget(id),
        { key: "release", text: "Releasing…" },
        (before) => setUndo(back(before, null, `${before?.policy ?? "Policy"} released.`)),
      ),
  };
}

function doneText(before: Steering | null, request: SteerRequest): string {
  if (request.sweep != null) return "Measuring the size curve.";
  if (request.proof != null) return `Proving ${request.policy}.`;
  if (before === null || before.policy !== request.policy)
    return `Steering with ${request.policy}.`;
  if (request.shadow !== before.shadow) {
    return request.shadow === true ? "Shadow mode is on." : "Shadow mode is off.";
  }
  return `Change applied.`;
}

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
