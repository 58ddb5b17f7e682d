import { useEffect, useMemo, useRef, useState } from "react";
import { listRuns } from "../../api/runs";
import { VIEW_ONLY } from "../../api/session";
import { usePolled } from "../../api/usePolled";
import { navigate } from "../../base/routing";
import { session } from "../../base/session";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { counted, formatDuration, formatValue } from "../../stream/format";
import { Button } from "../../ui/Button";
import { EmptyState } from "../../ui/EmptyState";
import { ProblemNotice } from "../../ui/ProblemNotice";
import { SearchField } from "../../ui/SearchField";
import { MAX_COMPARED_RUNS, MIN_COMPARED_RUNS } from "../../wire/generated/limits";
import type { RunsResponse } from "../../wire/generated/models";
import { compareHref, linkOf } from "../compare/link";
import { DamagedRuns } from "./DamagedRuns";
import { DeletedRuns } from "./DeletedRuns";
import { ImportRun } from "./ImportRun";
import styles from "./RunsPage.module.css";
import { RunsTable } from "./RunsTable";
import { filterRuns, NEWEST_FIRST, sortRuns } from "./runList";
import { useDelete } from "./useDelete";

/** Runs are made and changed by others too: other pages, the command line. */
const PERIOD_MS = 5000;
/** As many can be compared. */

/** All runs. */
export function RunsPage() {
  const { value, problem, loading, refresh } = usePolled(listRuns, PERIOD_MS);
  const recordings = useStore(useLiveClient().live)?.recordings;
  const locked = useStore(session)?.role === "viewer";
  const [text, setText] = useState("");
  const [order, setOrder] = useState(NEWEST_FIRST);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const table = useRef<HTMLDivElement>(null);
  const { remove, restore, failed } = useDelete(refresh);
  // What begins or ends being recorded is in the list at once.
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
              look={compared.length > 1 ? "primary" : "plain"}
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
      <Button look="primary" onClick={() => navigate("/")}>
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
