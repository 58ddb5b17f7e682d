/**
 * Feature `run`: the ID of a run in, the panels of the Live page over a separate client out. It
 * must not know live targets.
 */

import { useCallback, useEffect, useMemo, useState } from "react";
import { isKind } from "../../api/http";
import { framesHref, getRun } from "../../api/runs";
import { usePolled } from "../../api/usePolled";
import { liveHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { useStore } from "../../base/useStore";
import {
  type LiveClient,
  LiveClientContext,
  useLiveClient,
  useRunClient,
} from "../../stream/client";
import { childrenText, dataLossTexts, missingText } from "../../stream/dataLossText";
import { counted } from "../../stream/format";
import { runSource } from "../../stream/runWindow";
import { Button, PageLink } from "../../ui/Controls";
import { InlineEdit } from "../../ui/InlineEdit";
import { EmptyState, Notice, ProblemNotice, StatusIcon } from "../../ui/Notices";
import { MAX_RUN_GROUP, MAX_RUN_NOTES } from "../../wire/generated/limits";
import type { RunManifest } from "../../wire/generated/models";
import { FindingsPanel } from "../findings/FindingsPanel";
import { useOwnRoles } from "../roles/ownRoles";
import { ScopePanels } from "../scope/ScopePanels";
import scope from "../scope/TargetHeader.module.css";
import { useMoment } from "../scope/ViewControls";
import { PlacesProvider } from "../stacks/Places";
import { RecordedCoresPanel, useRecordedPrograms } from "../steering/CoreDivisions";
import { ThreadDrawer, useHeldPlace, useThreadOpen } from "../thread/ThreadDrawer";
import { Tiles } from "../tiles/Tiles";
import { RunControls } from "./RunControls";
import { parseTags, RunHeader, useRunChange } from "./RunHeader";
import { RunLog } from "./RunLog";
import runNotesStyles from "./RunPage.module.css";

/** A run, in the charts of the Live page. */
export function RunPage({ id }: { readonly id: string }) {
  const load = useCallback((signal: AbortSignal) => getRun(id, signal), [id]);
  const { value, problem, loading, refresh } = usePolled(load, null);
  const [changed, setChanged] = useState<RunManifest | null>(null);
  useEffect(() => setChanged(value), [value]);
  const run = changed ?? value;
  useEffect(() => {
    document.title = run === null ? "Run · tidscope" : `${run.name} · tidscope`;
  }, [run]);

  if (run !== null) {
    return (
      <>
        {problem === null ? null : <ProblemNotice problem={problem} />}
        {/* A run that has grown is read again. */}
        <RunView
          key={run.to_ns}
          run={run}
          onChange={setChanged}
          onReload={refresh}
          reloading={loading}
        />
      </>
    );
  }
  if (isKind(problem, "unknown-run")) {
    return (
      <EmptyState title="Run not found" page>
        <p>
          <code>{id}</code> was deleted, or was recorded on another host. Deleted runs can be
          restored from the list for one hour.
        </p>
        <Button variant="primary" onClick={() => navigate("/runs")}>
          All runs
        </Button>
      </EmptyState>
    );
  }
  if (problem !== null) {
    return (
      <ProblemNotice
        problem={problem}
        actions={
          <>
            <Button onClick={refresh}>Try again</Button>
            <Button onClick={() => navigate("/runs")}>All runs</Button>
          </>
        }
      />
    );
  }
  return <EmptyState title="Loading run…" />;
}

interface RunViewProps {
  readonly run: RunManifest;
  readonly onChange: (run: RunManifest) => void;
  readonly onReload: () => void;
  readonly reloading: boolean;
}

/** Content of a run; a separate client reads its data. */
function RunView({ run, onChange, onReload, reloading }: RunViewProps) {
  const [source] = useState(() => runSource(run, framesHref(run.id)));
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
    <PlacesProvider target={target}>
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
    </PlacesProvider>
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

/** Data loss of a run, most important first, and the reason for an early end. */
function DataLossNotice({ run }: { readonly run: RunManifest }) {
  const texts = dataLossTexts(run.losses);
  const children = childrenText(run.outcome?.children_cpu_us);
  return (
    <>
      {children === null ? null : (
        <Notice status="warning" title="Child processes are missing">
          {children}
        </Notice>
      )}
      {run.state === "interrupted" ? (
        <Notice status="warning" title="Recording was interrupted">
          {run.end_detail === "" ? "Data up to that point is available." : run.end_detail}
        </Notice>
      ) : null}
      {run.state === "incomplete" ? (
        <Notice status="warning" title="This run is incomplete">
          {run.end_detail === "" ? `${missingText(run.losses)}.` : run.end_detail}
        </Notice>
      ) : null}
      {texts.length === 0 ? null : (
        <details className={`surface ${runNotesStyles.losses}`}>
          <summary>
            <StatusIcon status="warning" />{" "}
            {texts.length === 1 ? texts[0] : counted(texts.length, "warning")}
          </summary>
          {texts.length === 1 ? null : (
            <ul>
              {texts.map((word) => (
                <li key={word}>{word}</li>
              ))}
            </ul>
          )}
        </details>
      )}
    </>
  );
}

interface RunNotesProps {
  readonly run: RunManifest;
  readonly onChange: (run: RunManifest) => void;
}

/** The user's notes on a run. */
function RunNotes({ run, onChange }: RunNotesProps) {
  const { change, problem, locked } = useRunChange(run.id, onChange);
  return (
    <section className={`surface ${runNotesStyles.panel}`} aria-label="Notes">
      {problem === null ? null : <ProblemNotice problem={problem} />}
      <dl className={runNotesStyles.notes}>
        <div>
          <dt>Tags</dt>
          <dd>
            <InlineEdit
              label="Tags"
              value={run.tags.join(", ")}
              placeholder="none (separate with commas)"
              maxLength={1300}
              disabled={locked}
              onSave={(text) => change({ tags: parseTags(text) })}
            />
          </dd>
        </div>
        <div>
          <dt>Group</dt>
          <dd>
            <InlineEdit
              label="Group"
              value={run.group ?? ""}
              placeholder="none (runs in a group are repeats of each other)"
              maxLength={MAX_RUN_GROUP}
              disabled={locked}
              onSave={(text) => change({ group: text === "" ? null : text })}
            />
          </dd>
        </div>
        <div>
          <dt>Notes</dt>
          <dd>
            <InlineEdit
              label="Notes"
              value={run.notes}
              placeholder="none"
              maxLength={MAX_RUN_NOTES}
              multiline
              disabled={locked}
              onSave={(notes) => change({ notes })}
            />
          </dd>
        </div>
      </dl>
    </section>
  );
}
