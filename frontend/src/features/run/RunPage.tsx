import { useCallback, useEffect, useState } from "react";
import { isKind } from "../../api/problem";
import { getRun } from "../../api/runs";
import { usePolled } from "../../api/usePolled";
import { navigate } from "../../base/routing";
import { Button } from "../../ui/Button";
import { EmptyState } from "../../ui/EmptyState";
import { ProblemNotice } from "../../ui/ProblemNotice";
import type { RunManifest } from "../../wire/generated/models";
import { RunView } from "./RunView";

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
      <EmptyState title="Run not found">
        <p>
          <code>{id}</code> was deleted, or was recorded on another host. Deleted runs can be
          restored from the list for one hour.
        </p>
        <Button look="primary" onClick={() => navigate("/runs")}>
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
