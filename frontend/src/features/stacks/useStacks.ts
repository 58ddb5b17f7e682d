/** Stacks of a source: its times, the lease that has them taken, and the answers. */

import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { asProblem } from "../../api/http";
import { getRun } from "../../api/runs";
import { stackGraph, takeStacks } from "../../api/stacks";
import { type Polled, usePolled } from "../../api/usePolled";
import { session } from "../../base/session";
import { READABLE_MS, useStore, useThrottled } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import type {
  Problem,
  RunManifest,
  StackGraph,
  StackSide,
  Target,
} from "../../wire/generated/models";
import { graphQuery, type StackClock, type StackScope, type StackSource, spanOf } from "./link";

/** The program whose stacks are shown. */
export interface StackSubject {
  readonly target: Target;
  /** The run that recorded it; null for a live target. */
  readonly run: Pick<RunManifest, "id" | "name"> | null;
  /** Reads the newest times: each request covers what is known by then. */
  readonly clock: () => StackClock;
}

/** A subject, or why there is none. */
interface SubjectState {
  readonly subject: StackSubject | null;
  readonly problem: Problem | null;
  /** The run; null for a live target, and until it is read. */
  readonly run: RunManifest | null;
  /** True if no live target has this ID. */
  readonly unknown: boolean;
}

/** How long a live target may be unknown before the page reports that, in ms. */
const GRACE_MS = 3000;

/** Follow a live target; null for none. */
export function useLiveSubject(id: string | null): SubjectState {
  const client = useLiveClient();
  useEffect(() => {
    if (id !== null) client.follow(id);
  }, [client, id]);
  const live = useStore(client.live);
  const view = useThrottled(client.target, READABLE_MS);
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = window.setTimeout(() => setLate(true), GRACE_MS);
    return () => window.clearTimeout(timer);
  }, []);
  const listed = live?.targets.find((each) => each.id === id) ?? null;
  const target = listed ?? (view?.id === id ? (view?.target ?? null) : null);
  const attached_us = target?.attached_unix_us ?? 0;
  const clock = useCallback((): StackClock => {
    const newest = client.target.get();
    const now_s = newest?.id === id ? newest.now_s : 0;
    return { zero_ms: attached_us / 1000, first_ns: 0, newest_ns: 1e9 * now_s };
  }, [client, id, attached_us]);
  const known = view?.id === id && view.now_s > 0;
  const subject = useMemo(
    () => (target === null || !known ? null : { target, run: null, clock }),
    [target, known, clock],
  );
  return { subject, problem: null, run: null, unknown: late && target === null && live !== null };
}

/** Read a run; null for none. */
export function useRunSubject(id: string | null): SubjectState {
  const load = useCallback((signal: AbortSignal) => getRun(id ?? "", signal), [id]);
  const { value: run, problem } = usePolled(id === null ? null : load, null);
  const subject = useMemo(() => (run === null ? null : runSubject(run)), [run]);
  return { subject, problem, run, unknown: false };
}

function runSubject(run: RunManifest): StackSubject {
  const clock = {
    zero_ms: run.target.attached_unix_us / 1000,
    first_ns: run.from_ns,
    newest_ns: run.to_ns,
  };
  return { target: run.target, run, clock: () => clock };
}

/** Length of a lease in seconds, and the period of its renewal in ms. */
const LEASE_S = 15;
const RENEW_MS = 5000;

/** State of the lease. */
interface Lease {
  /** Why no stacks are taken; null if they are, or are not asked for. */
  readonly problem: Problem | null;
  readonly retry: () => void;
}

/**
 * Have stacks of a target taken while the page is visible. The last lease expires by itself.
 * @param target null asks for none.
 */
export function useLease(target: string | null): Lease {
  const viewer = useStore(session)?.role === "viewer";
  const [problem, setProblem] = useState<Problem | null>(null);
  const again = useRef<() => void>(() => undefined);
  const wanted = viewer ? null : target;
  useEffect(() => {
    if (wanted === null) return undefined;
    let ended = false;
    let timer = 0;
    const renew = async () => {
      window.clearTimeout(timer);
      if (document.hidden) return;
      try {
        await takeStacks(wanted, LEASE_S);
        if (!ended) setProblem(null);
      } catch (error) {
        const found = asProblem(error);
        if (!ended) setProblem(found);
        // Only an unreachable backend is asked again by itself.
        if (found.status !== 0) return;
      }
      if (!ended) timer = window.setTimeout(() => void renew(), RENEW_MS);
    };
    const ask = () => void renew();
    again.current = ask;
    document.addEventListener("visibilitychange", ask);
    ask();
    return () => {
      ended = true;
      again.current = () => undefined;
      window.clearTimeout(timer);
      document.removeEventListener("visibilitychange", ask);
    };
  }, [wanted]);
  const retry = useCallback(() => again.current(), []);
  return { problem: wanted === null ? null : problem, retry };
}

/** A value once it stands still, so that dragging a window asks once. */
export function useStill<T>(value: T): T {
  const [still, setStill] = useState(value);
  useEffect(() => {
    const timer = globalThis.setTimeout(() => setStill(value), STILL_MS);
    return () => globalThis.clearTimeout(timer);
  }, [value]);
  return still;
}

const STILL_MS = 400;

/** Pause between two requests of a live window, and of a past one whose names may still come. */
const LIVE_MS = 1000;
const PAST_MS = 5000;

/** Request period of a window, in ms; null for a run, which does not change. */
export function periodOf({ run }: StackSubject, scope: StackScope): number | null {
  if (run !== null) return null;
  return scope.window.kind === "last" ? LIVE_MS : PAST_MS;
}

/**
 * The flame graph of a scope, repeated while it may change.
 * @param watched False keeps the last answer.
 */
export function useStackGraph(
  source: StackSource,
  subject: StackSubject,
  scope: StackScope,
  side: StackSide,
  watched: boolean,
): Polled<StackGraph> {
  const { clock } = subject;
  const { kind, id } = source;
  const { window, tids, roles, states, lock } = scope;
  // Each change of the address makes new objects: scopes are compared by value.
  const asked = JSON.stringify({ window, tids, roles, states, lock });
  const load = useCallback(
    (signal: AbortSignal) => {
      const scope: StackScope = JSON.parse(asked);
      const query = graphQuery(scope, spanOf(scope.window, clock()), side);
      return stackGraph({ kind, id }, query, signal);
    },
    [kind, id, asked, side, clock],
  );
  return usePolled(watched ? load : null, periodOf(subject, scope));
}
