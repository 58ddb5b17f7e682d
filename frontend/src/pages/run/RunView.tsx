import { useState } from "react";
import { LiveClientContext, useLiveClient } from "../../base/liveClient";
import { liveHref } from "../../base/route";
import { useRunClient } from "../../base/runClients";
import { useReadable } from "../../base/useReadable";
import type { LiveClient } from "../../model/contract";
import { Blank } from "../../ui/Blank";
import { Button } from "../../ui/Button";
import { Notice } from "../../ui/Notice";
import { PageLink } from "../../ui/PageLink";
import type { RunManifest } from "../../wire/generated/models";
import { ChartGrid } from "../live/scope/ChartGrid";
import { MapPanel } from "../live/scope/MapPanel";
import scope from "../live/scope/Scope.module.css";
import { Tiles } from "../live/scope/Tiles";
import { ThreadTable } from "../live/scope/threads/ThreadTable";
import { Losses } from "./Losses";
import { RunControls } from "./RunControls";
import { RunHeader } from "./RunHeader";
import { RunLog } from "./RunLog";
import { RunNotes } from "./RunNotes";
import { runSource } from "./runSource";

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
      <Losses run={run} />
      {run.counts.frames === 0 ? (
        <Blank title="Nothing was recorded">
          <p>It ended before its first sample.</p>
        </Blank>
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
  const { target } = run;
  return (
    <LiveClientContext value={client}>
      <ReadingProblem client={client} />
      <RunControls run={run} />
      <Tiles target={target} />
      <ChartGrid target={target} />
      <RunLog run={run} onChange={onChange} />
      <RunNotes run={run} onChange={onChange} />
      <MapPanel target={target} />
      <ThreadTable target={target} />
    </LiveClientContext>
  );
}

function ReadingProblem({ client }: { readonly client: LiveClient }) {
  const reading = useReadable(client.reading);
  return reading?.state === "failed" ? (
    <Notice kind="bad" title="A part of the run could not be read" urgent>
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
  const live = useReadable(useLiveClient().live);
  const there = live?.targets.some((each) => each.id === run.target.id) ?? false;
  return (
    <Notice
      kind="plain"
      title="Still recording"
      actions={
        <Button onClick={onReload} disabled={reloading}>
          Show what came since
        </Button>
      }
    >
      Here is what was recorded until this page was loaded.{" "}
      {there ? <PageLink href={liveHref(run.target.id)}>Open it live</PageLink> : null}
    </Notice>
  );
}
