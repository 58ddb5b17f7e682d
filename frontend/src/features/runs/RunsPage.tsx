/**
 * Feature `runs`: runs of the backend in, a searchable list with changes to them out. It must not
 * read frames.
 */

import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { asProblem } from "../../api/http";
import { deleteRun, importRun, listRuns, restoreRun } from "../../api/runs";
import { VIEW_ONLY } from "../../api/session";
import { usePolled } from "../../api/usePolled";
import { runHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { session } from "../../base/session";
import { toast } from "../../base/toasts";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { counted, formatDuration, formatValue } from "../../stream/format";
import { runTargetName } from "../../stream/targetName";
import { Button, SearchField } from "../../ui/Controls";
import { FileDrop } from "../../ui/FileDrop";
import { EmptyState, Notice, ProblemNotice } from "../../ui/Notices";
import { MAX_COMPARED_RUNS, MIN_COMPARED_RUNS } from "../../wire/generated/limits";
import type { DamagedRun, Problem, RunSummary, RunsResponse } from "../../wire/generated/models";
import { compareHref, linkOf } from "../compare/link";
import { KeptTargets } from "../kept/KeptTargets";
import { RunsTable } from "./RunsTable";
import styles from "./RunsTable.module.css";
import { filterRuns, NEWEST_FIRST, sortRuns } from "./runList";

/** Polling interval in ms: other pages and the command line change runs too. */
const PERIOD_MS = 5000;
/** Maximum number of compared runs. */

export function RunsPage() {
  const { value, problem, loading, refresh } = usePolled(listRuns, PERIOD_MS);
  const recordings = useStore(useLiveClient().live)?.recordings;
  const locked = useStore(session)?.role === "viewer";
  const [text, setText] = useState("");
  const [order, setOrder] = useState(NEWEST_FIRST);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const table = useRef<HTMLDivElement>(null);
  const { remove, restore, failed } = useDelete(refresh);
  // Reload at the start or end of any recording.
  const recorded = recordings?.map(({ run }) => run).join() ?? "";
  const before = useRef(recorded);
  useEffect(() => {
    if (before.current !== recorded) {
      before.current = recorded;
      refresh();
    }
  }, [recorded, refresh]);

  const runs = useMemo(
    () => sortRuns(filterRuns(value?.runs ?? [], text), order),
    [value, text, order],
  );
  const compared = [...chosen].flatMap((id) => value?.runs.find((run) => run.id === id) ?? []);
  const choose = (id: string, on: boolean) => {
    const next = new Set(chosen);
    if (on) {
      next.add(id);
    } else {
      next.delete(id);
    }
    setChosen(next);
  };
  return (
    <ImportRun locked={locked} onDone={refresh}>
      {(openImport) => (
        <section className={styles.page} aria-busy={loading && value === null}>
          <header className={styles.head}>
            <h1>Runs</h1>
            <SearchField
              label="Search runs"
              placeholder="Name, tag, command, host, policy"
              value={text}
              onChange={setText}
              onKeyDown={(event) => {
                if (event.key === "ArrowDown") {
                  event.preventDefault();
                  table.current?.querySelector<HTMLElement>("[data-row]")?.focus();
                }
              }}
            />
            <Button
              variant={compared.length > 1 ? "primary" : "plain"}
              disabled={compared.length < MIN_COMPARED_RUNS || compared.length > MAX_COMPARED_RUNS}
              onClick={() => navigate(compareHref(linkOf(compared)))}
            >
              Compare{compared.length > 0 ? ` ${compared.length}` : ""}
            </Button>
            <Button disabled={locked} title={locked ? VIEW_ONLY : ""} onClick={openImport}>
              Import…
            </Button>
          </header>
          <p className={styles.about} role="status">
            {aboutText(value, runs.length, compared.length, loading)}
          </p>
          {problem === null ? null : (
            <ProblemNotice
              problem={problem}
              actions={<Button onClick={refresh}>Try again</Button>}
            />
          )}
          {failed === null ? null : <ProblemNotice problem={failed} />}
          {value === null ? null : value.runs.length === 0 ? (
            <NoRuns />
          ) : runs.length === 0 ? (
            <EmptyState title="No matching runs">
              <Button onClick={() => setText("")}>Show all</Button>
            </EmptyState>
          ) : (
            <RunsTable
              root={table}
              runs={runs}
              order={order}
              chosen={chosen}
              locked={locked}
              onOrder={setOrder}
              onChoose={choose}
              onChange={refresh}
              onDelete={remove}
            />
          )}
          <KeptTargets locked={locked} />
          <DeletedRuns runs={value?.deleted ?? []} locked={locked} onRestore={restore} />
          <DamagedRuns damaged={value?.damaged ?? []} />
        </section>
      )}
    </ImportRun>
  );
}

function NoRuns() {
  return (
    <EmptyState title="No runs yet">
      <p>
        A run stores everything tidscope measured of a program, for later viewing and comparison.
        Attach to a process and press Record, or run <code>tidscope record -- COMMAND</code>.
      </p>
      <Button variant="primary" onClick={() => navigate("/")}>
        Choose a process
      </Button>
    </EmptyState>
  );
}

function aboutText(
  value: RunsResponse | null,
  shown: number,
  compared: number,
  loading: boolean,
): string {
  if (value === null) {
    return loading ? "Reading the list…" : "";
  }
  const { runs, bytes, free_bytes, retention } = value;
  const count =
    shown === runs.length ? counted(runs.length, "run") : `${shown} of ${runs.length} runs`;
  const size = `${formatValue(bytes, "bytes")}, ${formatValue(free_bytes, "bytes")} free`;
  const age =
    retention.max_age_s === null ? "" : ` · kept for ${formatDuration(retention.max_age_s)}`;
  const most =
    retention.max_bytes === null
      ? ""
      : ` · oldest deleted above ${formatValue(retention.max_bytes, "bytes")}`;
  const hint =
    compared === 1
      ? " · select another run to compare"
      : compared > MAX_COMPARED_RUNS
        ? ` · at most ${MAX_COMPARED_RUNS} can be compared`
        : "";
  return `${count} · ${size}${age}${most}${hint}`;
}

/** Unreadable folders among the runs, which are left untouched. */
function DamagedRuns({ damaged }: { readonly damaged: readonly DamagedRun[] }) {
  if (damaged.length === 0) {
    return null;
  }
  return (
    <details className={`surface ${styles.list}`}>
      <summary>Unreadable folders: {damaged.length}</summary>
      <p className={styles.more}>tidscope leaves them untouched.</p>
      <ul>
        {damaged.map(({ folder, reason }) => (
          <li key={folder}>
            <code className={styles.what}>{folder}</code>
            <span className={styles.more}>{reason}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

interface Deleting {
  readonly remove: (run: RunSummary) => void;
  readonly restore: (run: RunSummary) => void;
  /** Problem of the last deletion. */
  readonly failed: Problem | null;
}

/** Deletion of runs, which can be undone for an hour. */
function useDelete(onDone: () => void): Deleting {
  const [failed, setFailed] = useState<Problem | null>(null);
  const tried = async (what: () => Promise<unknown>, then: () => void) => {
    setFailed(null);
    try {
      await what();
      then();
    } catch (error) {
      setFailed(asProblem(error));
    }
    onDone();
  };
  const restore = (run: RunSummary) =>
    void tried(
      () => restoreRun(run.id),
      () => toast(`Restored ${run.name}.`),
    );
  const remove = (run: RunSummary) =>
    void tried(
      () => deleteRun(run.id),
      () => toast(`Deleted ${run.name}.`, { label: "Undo", run: () => restore(run) }),
    );
  return { remove, restore, failed };
}

interface DeletedRunsProps {
  readonly runs: readonly RunSummary[];
  readonly locked: boolean;
  readonly onRestore: (run: RunSummary) => void;
}

/** Runs deleted within the last hour, which can be restored. */
function DeletedRuns({ runs, locked, onRestore }: DeletedRunsProps) {
  if (runs.length === 0) {
    return null;
  }
  return (
    <details className={`surface ${styles.list}`}>
      <summary>Deleted within the last hour: {runs.length}</summary>
      <ul>
        {runs.map((run) => (
          <li key={run.id} data-deleted={run.id}>
            <span className={styles.what}>{run.name}</span>
            <span className={styles.more}>
              {runTargetName(run)}, {formatDuration(run.duration_ns / 1e9)},{" "}
              {formatValue(run.counts.bytes, "bytes")}
            </span>
            <Button
              disabled={locked}
              aria-label={`Restore ${run.name}`}
              onClick={() => onRestore(run)}
            >
              Restore
            </Button>
          </li>
        ))}
      </ul>
    </details>
  );
}

interface ImportRunProps {
  readonly locked: boolean;
  readonly onDone: () => void;
  /** Content; receives the function that opens the file chooser. */
  readonly children: (open: () => void) => ReactNode;
}

/** Imports runs that were exported as folders. */
function ImportRun({ locked, onDone, children }: ImportRunProps) {
  const [busy, setBusy] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const bring = async (files: readonly File[]) => {
    setProblem(null);
    for (const file of files) {
      setBusy(file.name);
      try {
        const run = await importRun(file);
        toast(`Imported ${run.name}.`, { label: "Open", run: () => navigate(runHref(run.id)) });
      } catch (error) {
        setProblem(asProblem(error));
      }
    }
    setBusy("");
    onDone();
  };
  return (
    <FileDrop
      label="Runs"
      choose="Run to import"
      accept=".zst,.tar.zst,application/zstd"
      hint="Drop a run (.tar.zst) to import it"
      locked={locked}
      onFiles={(files) => void bring(files)}
    >
      {(open) => (
        <>
          {problem === null ? null : <ProblemNotice problem={problem} />}
          {busy === "" ? null : <Notice status="info" title={`Importing ${busy}…`} />}
          {children(open)}
        </>
      )}
    </FileDrop>
  );
}
