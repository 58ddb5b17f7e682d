/**
 * Feature `scope`: the ID of a target in, its header, notices and panels out. It must not know how
 * each panel works.
 */

import { useEffect, useMemo, useState } from "react";
import { getHealth, listProcesses } from "../../api/client";
import { asProblem, isKind } from "../../api/http";
import { usePolled } from "../../api/usePolled";
import { localTime } from "../../base/clock";
import { attachedHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { READABLE_MS, useStore, useThrottled } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { clockSkew } from "../../stream/clockSkew";
import { exitStatusText, formatDuration } from "../../stream/format";
import { programOf } from "../../stream/targetName";
import type { TargetView } from "../../stream/targetView";
import { Button } from "../../ui/Controls";
import { EmptyState, Notice, ProblemNotice } from "../../ui/Notices";
import type {
  AttachRequest,
  CollectorOutage,
  Group,
  GroupSelector,
  Host,
  LiveState,
  Process,
  Target,
} from "../../wire/generated/models";
import { useAttach } from "../attach/useAttach";
import { FindingsPanel } from "../findings/FindingsPanel";
import { useOwnRoles } from "../roles/ownRoles";
import { PlacesProvider } from "../stacks/Places";
import { CoresPanel, dividedPrograms } from "../steering/CoreDivisions";
import { SteerDrawer } from "../steering/SteerDrawer";
import { drawerOpen, SteerProvider } from "../steering/SteerProvider";
import { ThreadDrawer, useHeldPlace, useThreadOpen } from "../thread/ThreadDrawer";
import { Tiles } from "../tiles/Tiles";
import { ScopePanels } from "./ScopePanels";
import { TargetHeader } from "./TargetHeader";
import styles from "./TargetHeader.module.css";
import { useMoment, ViewControls } from "./ViewControls";

/**
 * Time for which a target may be unknown before the page reports that, in ms: its message may still
 * arrive.
 */
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
        <Button variant="primary" onClick={() => navigate("/")}>
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
      <PlacesProvider target={target}>
        <div className={styles.beside} data-drawer={beside}>
          <div className={styles.scope} data-state={view.state}>
            <TargetHeader target={target} view={view} />
            {target.state === "attached" ? null : <EndedNotice target={target} view={view} />}
            {host === undefined ? null : <OutageNotice host={host} />}
            <ClockNotice host={host} />
            <VersionNotice host={host} />
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
      </PlacesProvider>
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

interface EndedNoticeProps {
  readonly target: Target;
  readonly view: TargetView;
}

/** Notice after the end of the stream: the reason, and how to continue. */
function EndedNotice({ target, view }: EndedNoticeProps) {
  const { process, group } = target;
  const attaching = useAttach();
  const [message, setMessage] = useState("");
  const exited = target.state === "exited";

  const attachTo = (what: Pick<AttachRequest, "pid" | "group" | "start_ticks">) => {
    const { host, rate_hz } = target;
    attaching.attachTo({ host, rate_hz, ...what }, "push", programOf(target));
  };
  const again = async () => {
    setMessage("");
    attaching.fail(null);
    try {
      const { processes } = await listProcesses(target.host);
      const found = newest(
        processes.filter((each) => each.command !== null && each.command === process.command),
      );
      if (found === null) {
        setMessage("No process with this command is running now.");
      } else if (found.refusal !== null) {
        attaching.fail(found.refusal);
      } else {
        const { pid, start_ticks } = found;
        attachTo({ pid, start_ticks });
      }
    } catch (error) {
      attaching.fail(asProblem(error));
    }
  };
  const whole = group ? selectorOf(group, process) : null;
  const resume = () =>
    attachTo(
      whole ? { pid: null, group: whole } : { pid: process.pid, start_ticks: process.start_ticks },
    );

  return (
    <>
      <Notice
        status="info"
        title={exited ? (group ? "The group has ended" : "The process has exited") : "Detached"}
        actions={
          <>
            {exited && group ? null : exited ? (
              <Button onClick={() => void again()}>Attach to the same command again</Button>
            ) : (
              <Button onClick={resume}>Attach again</Button>
            )}
            <Button variant="primary" onClick={() => navigate("/")}>
              {group ? "Choose another target" : "Choose another process"}
            </Button>
          </>
        }
      >
        {exited
          ? `Attached for ${formatDuration(view.now_s)}; ${exitStatusText(view.exit_code)}. All data has arrived; charts and totals stay available.`
          : `The ${group ? "group" : "process"} keeps running and is no longer sampled. The ${formatDuration(view.now_s)} of data stay available.`}
        {message === "" ? null : <p role="alert">{message}</p>}
      </Notice>
      {attaching.problem === null ? null : <ProblemNotice problem={attaching.problem} />}
    </>
  );
}

/** Selector for attaching to the group again. */
function selectorOf({ kind, value }: Group, { pid, start_ticks }: Process): GroupSelector {
  const root = kind === "tree" ? { pid, start_ticks } : { pid: null, start_ticks: null };
  return { kind, value, ...root };
}

function newest(processes: readonly Process[]): Process | null {
  return processes.reduce<Process | null>(
    (best, each) => (best === null || each.started_unix_ms > best.started_unix_ms ? each : best),
    null,
  );
}

/** Notice that the times on the page are those of a clock that is wrong, or the backend's is. */
function ClockNotice({ host }: { readonly host: Host | undefined }) {
  const skew = clockSkew(host);
  return skew === null ? null : (
    <Notice status="warning" title={`The clock of ${host?.name} is ${skew} the backend's`}>
      Times on this page and in runs are of that clock. Set both by NTP.
    </Notice>
  );
}

/** Notice that collector and backend are of different versions. */
function VersionNotice({ host }: { readonly host: Host | undefined }) {
  const own = usePolled(getHealth, null).value?.version;
  const theirs = host?.collector.version;
  return own === undefined || theirs === undefined || own === theirs ? null : (
    <Notice
      status="warning"
      title={`The collector of ${host?.name} is tidscope ${theirs}, the backend ${own}`}
    >
      What only one of them knows is left out. Install the same version on both.
    </Notice>
  );
}

/** Notice of a collector outage: the reason, and which targets were restored. */
function OutageNotice({ host }: { readonly host: Host }) {
  const [closed, setClosed] = useState<number | null>(null);
  const outage = host.outage ?? null;
  if (!host.connected) {
    return (
      <Notice status="warning" title={awayTitle(outage)}>
        {awayText(outage)}
      </Notice>
    );
  }
  if (outage?.kind !== "crashed" || closed === outage.at_unix_us) return null;
  const { attached, failed, restored, leases } = outage;
  const steered = outage.steered ?? [];
  return (
    <Notice status="warning" title={`The collector crashed at ${at(outage.at_unix_us)}`}>
      <p>
        {outage.back_unix_us === null
          ? ""
          : `Another one is there since ${at(outage.back_unix_us)}. `}
        {attached.length === 0 ? "" : `Attached again: ${attached.join(", ")}. `}
        {steered.length === 0 ? "" : `Policies started again: ${steered.join(", ")}. `}
        Samples in between are missing.{steered.length === 0 ? " No policy was started again." : ""}
      </p>
      <ul data-restored="">
        {restored.map(({ pid, name, threads, problem }) => (
          <li key={`r${pid}`}>
            {problem === ""
              ? `CPU affinity of ${name} (${pid}) restored, ${threads} threads.`
              : `CPU affinity of ${name} (${pid}) not restored: ${problem}`}
          </li>
        ))}
        {leases.map((name) => (
          <li key={`l${name}`}>
            {name} has its size back from its agent, at most 10 s after the crash.
          </li>
        ))}
        {failed.map((text) => (
          <li key={`f${text}`}>Not done: {text}</li>
        ))}
      </ul>
      <Button onClick={() => setClosed(outage.at_unix_us)}>Dismiss</Button>
    </Notice>
  );
}

function awayTitle(outage: CollectorOutage | null): string {
  if (outage === null) return "Collector disconnected";
  return outage.kind === "ended"
    ? `The collector was stopped at ${at(outage.at_unix_us)}`
    : `The collector crashed or cannot be reached since ${at(outage.at_unix_us)}`;
}

function awayText(outage: CollectorOutage | null): string {
  if (outage?.kind === "ended") return "It restored all sizes first. Start it to attach again.";
  return (
    "Its connection broke without a goodbye. If it runs, it keeps sampling and sends what was missed " +
    "when it reconnects. If it crashed, programs are attached again as soon as it is back."
  );
}

function at(unix_us: number): string {
  return localTime(unix_us / 1000);
}

/** Follow the target that replaces one after a crash of its collector. */
function useContinuation(live: LiveState | null, target: Target | null): void {
  const next = continuation(live, target);
  useEffect(() => {
    if (next !== null) navigate(attachedHref(next, window.location.search));
  }, [next]);
}

/** ID of the attached target that replaces a detached one. */
export function continuation(live: LiveState | null, target: Target | null): string | null {
  if (target === null || target.state === "attached") return null;
  const next = live?.targets.find(
    ({ continues, state }) => continues === target.id && state === "attached",
  );
  return next?.id ?? null;
}
