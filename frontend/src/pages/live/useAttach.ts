import { useCallback, useState } from "react";
import { attach, startDemo } from "../../api/client";
import { asProblem } from "../../api/problem";
import { attachedHref } from "../../base/route";
import { navigate } from "../../base/routing";
import type { AttachRequest, Problem } from "../../wire/generated/models";

interface Attaching {
  /** The process that is being attached to; "demo" while the demo program starts. */
  readonly busy: number | "demo" | null;
  /** Why the last attempt was refused. */
  readonly problem: Problem | null;
  readonly attachTo: (request: AttachRequest, how?: "push" | "replace") => void;
  readonly attachDemo: () => void;
  readonly fail: (problem: Problem | null) => void;
}

/** Attaching, and going to the target when it succeeds. */
export function useAttach(): Attaching {
  const [busy, setBusy] = useState<number | "demo" | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);

  const go = useCallback(
    async (what: number | "demo", ask: () => Promise<{ id: string }>, how: "push" | "replace") => {
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
    (request: AttachRequest, how: "push" | "replace" = "push") =>
      void go(request.pid, () => attach(request), how),
    [go],
  );
  const attachDemo = useCallback(
    () => void go("demo", async () => (await startDemo()).target, "push"),
    [go],
  );
  return { busy, problem, attachTo, attachDemo, fail: setProblem };
}
