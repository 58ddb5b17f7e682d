import { useEffect } from "react";
import { navigate } from "../../base/routing";
import type { LiveState, Target } from "../../wire/generated/models";

/** Follow a target to the one that was attached in its place after a crash of its collector. */
export function useContinuation(live: LiveState | null, target: Target | null): void {
  const next = continuation(live, target);
  useEffect(() => {
    if (next !== null) navigate(`/?target=${next}`);
  }, [next]);
}

/** Id of the attached target that takes the place of one that is not attached any more. */
export function continuation(live: LiveState | null, target: Target | null): string | null {
  if (target === null || target.state === "attached") return null;
  const next = live?.targets.find(
    ({ continues, state }) => continues === target.id && state === "attached",
  );
  return next?.id ?? null;
}
