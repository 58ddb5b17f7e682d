import { useEffect, useMemo, useState } from "react";
import { isKind } from "../../api/problem";
import { navigate } from "../../base/routing";
import { READABLE_MS, useStore, useThrottled } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { Button } from "../../ui/Button";
import { EmptyState } from "../../ui/EmptyState";
import { Notice } from "../../ui/Notice";
import { FindingsPanel } from "../findings/FindingsPanel";
import { useOwnRoles } from "../roles/useOwnRoles";
import { CoresPanel } from "../steering/CoreDivisions";
import { dividedPrograms } from "../steering/divisionText";
import { drawerOpen } from "../steering/drawer";
import { SteerDrawer } from "../steering/SteerDrawer";
import { SteerProvider } from "../steering/SteerProvider";
import { ThreadDrawer, useThreadOpen } from "../thread/ThreadDrawer";
import { useHeldPlace } from "../thread/useHeldPlace";
import { Tiles } from "../tiles/Tiles";
import { EndedNotice } from "./EndedNotice";
import { OutageNotice } from "./OutageNotice";
import { ScopePanels } from "./ScopePanels";
import { TargetHeader } from "./TargetHeader";
import styles from "./TargetPage.module.css";
import { useContinuation } from "./useContinuation";
import { useMoment } from "./useMoment";
import { ViewControls } from "./ViewControls";

/** How long a target may be unknown before the page says so: news of a new one may be on its way. */
const GRACE_MS = 3000;

/** One target, live. */
export function Scope({ id }: { readonly id: string }) {
  const client = useLiveClient();
  const live = useStore(client.live);
  const view = useThrottled(client.target, READABLE_MS);
  const problem = useStore(client.problem);
  const target = live?.targets.find((each) => each.id === id) ?? view?.target ?? null;
  const open = useStore(drawerOpen);
  const threadOpen = useThreadOpen();
  useHeldPlace(open || threadOpen);
  useOwnRoles(target);
  useContinuation(live, target);
  useMoment(view?.id === id ? target : null);
  const divided = target !== null && dividedPrograms(target).length > 0;
  const cores = useMemo(
    () => (divided && target !== null ? <CoresPanel target={target} /> : null),
    [divided, target],
  );
  const inGracePeriod = useGracePeriod(GRACE_MS);
  if (target === null || view === null || view.id !== id) {
    const unknown = isKind(problem, "unknown-target") || (live !== null && !inGracePeriod);
    return unknown && target === null ? (
      <EmptyState title="Unknown target">
        <p>
          <code>{id}</code> may have ended long ago, or tidscope has been restarted since. A process
          gets a new target id each time you attach to it.
        </p>
        <Button look="primary" onClick={() => navigate("/")}>
          Choose a process
        </Button>
      </EmptyState>
    ) : (
      <EmptyState title="Loading target…" />
    );
  }
  const beside = open ? "steer" : threadOpen ? "thread" : "closed";
  const host = live?.hosts.find((each) => each.id === target.host);
  return (
    <SteerProvider target={target}>
      <div className={styles.beside} data-drawer={beside}>
        <div className={styles.scope} data-state={view.state}>
          <TargetHeader target={target} view={view} />
          {target.state === "attached" ? null : <EndedNotice target={target} view={view} />}
          {host === undefined ? null : <OutageNotice host={host} />}
          {view.state === "quiet" && host?.connected !== false ? (
            <Notice status="warning" title="No samples for several seconds">
              The host may be overloaded, or the collector has stopped.
            </Notice>
          ) : null}
          {view.state === "loading" ? (
            <Notice status="info" title="Waiting for the first sample…" />
          ) : null}
          <FindingsPanel />
          <Tiles target={target} />
          <ViewControls target={target} />
          <ScopePanels target={target} cores={cores} />
        </div>
        <SteerDrawer target={target} />
        <ThreadDrawer />
      </div>
    </SteerProvider>
  );
}

/** True for this long after the first drawing. */
function useGracePeriod(ms: number): boolean {
  const [inGracePeriod, setInGracePeriod] = useState(true);
  useEffect(() => {
    const timer = window.setTimeout(() => setInGracePeriod(false), ms);
    return () => window.clearTimeout(timer);
  }, [ms]);
  return inGracePeriod;
}
