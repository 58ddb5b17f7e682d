import { type KeyboardEvent, useCallback, useMemo, useRef, useState } from "react";
import { getHealth, listProcesses } from "../../../api/client";
import { isKind } from "../../../api/problem";
import { usePolled } from "../../../api/usePolled";
import { useStore } from "../../../base/useStore";
import { Button } from "../../../ui/Button";
import { Checkbox } from "../../../ui/Checkbox";
import { EmptyState } from "../../../ui/EmptyState";
import { ProblemNotice } from "../../../ui/ProblemNotice";
import { SearchField } from "../../../ui/SearchField";
import { Select } from "../../../ui/Select";
import type { Process } from "../../../wire/generated/models";
import { useLiveClient } from "../../clients";
import { useAttach } from "../useAttach";
import { AttachedTargets } from "./AttachedTargets";
import { NoCollector } from "./NoCollector";
import styles from "./Picker.module.css";
import { ProcessTable, type ProcessTableHandle } from "./ProcessTable";
import { byCpu, matchesSearch } from "./search";

const REFRESH_MS = 2000;
const NONE: readonly Process[] = [];

/** Choose a process to watch. */
export function Picker() {
  const live = useStore(useLiveClient().live);
  const hosts = live?.hosts.filter((each) => each.connected) ?? [];
  const [chosenHost, setChosenHost] = useState<string | null>(null);
  const host = chosenHost ?? hosts[0]?.id ?? null;
  const load = useCallback((signal: AbortSignal) => listProcesses(host, signal), [host]);
  const polled = usePolled(load, REFRESH_MS);
  const uid = usePolled(getHealth, null).value?.uid ?? null;

  const [typed, setTyped] = useState("");
  const [mine, setMine] = useState(false);
  const attaching = useAttach();
  const table = useRef<ProcessTableHandle>(null);

  const all = polled.value?.processes ?? NONE;
  const shown = useMemo(
    () =>
      all.filter((each) => (!mine || each.uid === uid) && matchesSearch(each, typed)).sort(byCpu),
    [all, mine, uid, typed],
  );

  const pick = (process: Process) => {
    if (process.refusal !== null) {
      attaching.fail(process.refusal);
    } else {
      attaching.attachTo({ host, pid: process.pid, start_ticks: process.start_ticks });
    }
  };
  const onSearchKey = (event: KeyboardEvent) => {
    const first = shown[0];
    if (event.key === "ArrowDown" && first !== undefined) {
      event.preventDefault();
      table.current?.focusFirst();
    } else if (event.key === "Enter" && typed !== "" && first !== undefined) {
      pick(first);
    }
  };

  const noCollector =
    (live !== null && hosts.length === 0) || isKind(polled.problem, "no-collector");
  if (noCollector) {
    return <NoCollector />;
  }
  return (
    <section className={styles.picker} aria-label="Choose a process">
      <AttachedTargets />
      {attaching.problem === null ? null : (
        <ProblemNotice
          problem={attaching.problem}
          actions={<Button onClick={() => attaching.fail(null)}>Dismiss</Button>}
        />
      )}
      {polled.problem === null ? null : <ProblemNotice problem={polled.problem} />}
      <header className={styles.head}>
        <h1>Attach to a process</h1>
        <SearchField
          label="Search processes"
          placeholder="Name, command line, pid, :port or user"
          value={typed}
          onChange={setTyped}
          onKeyDown={onSearchKey}
        />
        {hosts.length > 1 ? (
          <Select
            label="Host"
            value={host ?? ""}
            choices={hosts.map(({ id, name }) => ({ value: id, label: name }))}
            onChange={setChosenHost}
          />
        ) : null}
        {uid === null ? null : <Checkbox label="Only mine" checked={mine} onChange={setMine} />}
        <span className={styles.count} role="status">
          {polled.value === null ? "" : `${shown.length} of ${all.length}`}
        </span>
        <Button onClick={attaching.attachDemo} disabled={attaching.busy === "demo"}>
          {attaching.busy === "demo" ? "Starting…" : "Start the demo"}
        </Button>
      </header>
      {polled.value === null && polled.problem === null ? (
        <EmptyState title="Loading processes…" />
      ) : null}
      {polled.value !== null && shown.length === 0 ? (
        <EmptyState title={all.length === 0 ? "No processes found" : "No process matches"}>
          <p>
            {typed === ""
              ? "Start a multi-threaded program, or the demo that comes with tidscope."
              : `No process has “${typed}” in its name, command line, pid, ports or user.`}
          </p>
          {typed === "" ? (
            <Button look="primary" onClick={attaching.attachDemo}>
              Start the demo
            </Button>
          ) : (
            <Button onClick={() => setTyped("")}>Show all</Button>
          )}
        </EmptyState>
      ) : null}
      {polled.value?.note ? <p role="note">{polled.value.note}</p> : null}
      {shown.length === 0 ? null : (
        <ProcessTable
          processes={shown}
          busyPid={typeof attaching.busy === "number" ? attaching.busy : null}
          onPick={pick}
          handle={table}
        />
      )}
    </section>
  );
}
