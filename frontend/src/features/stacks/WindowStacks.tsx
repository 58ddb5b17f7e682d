import { useCallback, useMemo, useState } from "react";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import type { Target } from "../../wire/generated/models";
import { PLAIN_LINK, parseStacksLink, type StacksLink } from "./link";
import { DrawingBar } from "./ScopeBar";
import { StackBody } from "./StackPane";
import styles from "./stacks.module.css";
import { useStackLink } from "./useStackLink";
import { type StackSubject, useStill } from "./useStacks";

interface WindowStacksProps {
  readonly target: Target;
  readonly inView: boolean;
}

type Drawing = Omit<StacksLink, "source" | "window" | "tids" | "roles" | "states" | "lock">;

/** The flame graph of the visible window, of the selected thread or role. */
export function WindowStacks({ target, inView }: WindowStacksProps) {
  const client = useLiveClient();
  const { selected } = useStore(client.view);
  const href = useStill(useStackLink()({ key: selected }) ?? "");
  const subject = useWindowSubject(target);
  const [drawing, setDrawing] = useState<Drawing>(PLAIN_LINK);
  const scope = useMemo(() => parseStacksLink(href.split("?")[1] ?? ""), [href]);
  if (scope === null) {
    return (
      <p className={styles.empty}>
        This selection has no stacks of its own. Select a thread or a role.
      </p>
    );
  }
  const { source, window, tids, roles, states, lock } = scope;
  const link: StacksLink = { ...drawing, source, window, tids, roles, states, lock };
  const onLink = (part: Partial<StacksLink>) => setDrawing((before) => ({ ...before, ...part }));
  const [what = "all threads"] = [...roles.map((role) => `role ${role}`), ...tids.map(tidText)];
  return (
    <div className={styles.within}>
      <DrawingBar link={link} onLink={onLink} />
      <StackBody
        key={JSON.stringify([tids, roles])}
        label={`Stacks of ${what}`}
        side="threads"
        watched={inView}
        {...{ subject, link, onLink }}
      />
    </div>
  );
}

function tidText(tid: number): string {
  return `thread ${tid}`;
}

/** The watched target or run, with the times of the page's client. */
function useWindowSubject(target: Target): StackSubject {
  const client = useLiveClient();
  const { extent } = client;
  const zero_ms = target.attached_unix_us / 1000;
  // Requests are repeated when the clock is another, not when the target's state changes.
  const clock = useCallback(
    () => ({
      zero_ms,
      first_ns: 1e9 * (extent?.t0_s ?? 0),
      newest_ns: 1e9 * (extent?.t1_s ?? client.target.get()?.now_s ?? 0),
    }),
    [client, extent, zero_ms],
  );
  const run = extent === null ? null : { id: client.followed.get() ?? "", name: "" };
  return { target, run, clock };
}
