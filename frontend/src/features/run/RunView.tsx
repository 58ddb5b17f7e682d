import { useMemo, useState } from "react";
import { framesHref } from "../../api/runs";
import { liveHref } from "../../base/route";
import { useStore } from "../../base/useStore";
import type { LiveClient } from "../../stream/client";
import { LiveClientContext, useLiveClient, useRunClient } from "../../stream/clients";
import type { RunSource } from "../../stream/runWindow";
import { Button } from "../../ui/Button";
import { EmptyState } from "../../ui/EmptyState";
import { Notice } from "../../ui/Notice";
import { PageLink } from "../../ui/PageLink";
import type { RunManifest } from "../../wire/generated/models";
import { FindingsPanel } from "../findings/FindingsPanel";
import { useOwnRoles } from "../roles/useOwnRoles";
import { ScopePanels } from "../scope/ScopePanels";
import scope from "../scope/TargetPage.module.css";
import { useMoment } from "../scope/useMoment";
import { RecordedCoresPanel, useRecordedPrograms } from "../steering/CoreDivisions";
import { ThreadDrawer, useThreadOpen } from "../thread/ThreadDrawer";
import { useHeldPlace } from "../thread/useHeldPlace";
import { Tiles } from "../tiles/Tiles";
import { DataLossNotice } from "./DataLossNotice";
import { RunControls } from "./RunControls";
import { RunHeader } from "./RunHeader";
import { RunLog } from "./RunLog";
import { RunNotes } from "./RunNotes";

export interface RunViewProps {
  readonly run: RunManifest;
  readonly onChange: (run: RunManifest) => void;
  readonly onReload: () => void;
  readonly reloading: boolean;
}

/** All of a run; its data comes through a client of its own. */
export function RunView({ run, onChange, onReload, reloading }: RunViewProps) {
  const [source] = useState(() => runSource(run));
  const client = useRunClient(source);
  return (
    <div className={scope.scope} data-testid="run" data-state={run.state}>
      <RunHeader run={run} onChange={onChange} />
      {run.state === "recording" ? (
        <StillRecording run={run} onReload={onReload} reloading={reloading} />
      ) : null}
      <DataLossNotice run={run} />
      {run.counts.frames === 0 ? (
        <EmptyState title="Nothing was recorded">
          <p>The run ended before its first sample.</p>
        </EmptyState>
      ) : (
        <Charts client={client} run={run} onChange={onChange} />
      )}
    </div>
  );
}

interface ChartsProps {
  readonly client: LiveClient | null;
  readonly run: RunManifest;
  readonly onChange: (run: RunManifest) => void;
}

function Charts({ client, run, onChange }: ChartsProps) {
  if (client === null) {
    return null;
  }
  return (
    <LiveClientContext value={client}>
      <RunPanels client={client} run={run} onChange={onChange} />
    </LiveClientContext>
  );
}

interface RunPanelsProps extends ChartsProps {
  readonly client: LiveClient;
}

function RunPanels({ client, run, onChange }: RunPanelsProps) {
  const { target } = run;
  const open = useThreadOpen();
  const divided = useRecordedPrograms(target).length > 0;
  const cores = useMemo(
    () => (divided ? <RecordedCoresPanel target={target} /> : null),
    [divided, target],
  );
  useHeldPlace(open);
  useOwnRoles(target);
  useMoment(target);
  const drawer = open ? "thread" : "closed";
  return (
    <div className={scope.beside} data-drawer={drawer}>
      <div className={scope.scope}>
        <ReadingProblem client={client} />
        <RunControls run={run} />
        <FindingsPanel />
        <Tiles target={target} />
        <ScopePanels target={target} cores={cores} />
        <RunLog run={run} onChange={onChange} />
        <RunNotes run={run} onChange={onChange} />
      </div>
      <ThreadDrawer />
    </div>
  );
}

function ReadingProblem({ client }: { readonly client: LiveClient }) {
  const reading = useStore(client.reading);
  return reading?.state === "failed" ? (
    <Notice status="error" title="A part of the run could not be read" urgent>
      {reading.reason}. Move the window, or reload the page, to try again.
    </Notice>
  ) : null;
}

interface StillRecordingProps {
  readonly run: RunManifest;
  readonly onReload: () => void;
  readonly reloading: boolean;
}

function StillRecording({ run, onReload, reloading }: StillRecordingProps) {
  const live = useStore(useLiveClient().live);
  const there = live?.targets.some((each) => each.id === run.target.id) ?? false;
  return (
    <Notice
      status="info"
      title="Still recording"
      actions={
        <Button onClick={onReload} disabled={reloading}>
          Load new data
        </Button>
      }
    >
      This page shows what had been recorded when it was loaded.{" "}
      {there ? <PageLink href={liveHref(run.target.id)}>Open live view</PageLink> : null}
    </Notice>
  );
}

/** What the worker needs to read a run. */
function runSource(run: RunManifest): RunSource {
  return {
    id: run.id,
    url: framesHref(run.id),
    target: run.target,
    from_s: run.from_ns / 1e9,
    to_s: run.to_ns / 1e9,
    instants: run.counts.frames,
    rows: run.counts.thread_samples,
  };
}
