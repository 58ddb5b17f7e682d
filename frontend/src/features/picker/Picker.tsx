/**
 * Feature `picker`: processes of the backend in, an attach request out. It must not know views of a
 * target.
 */

import { type KeyboardEvent, useCallback, useMemo, useRef, useState } from "react";
import { getHealth, listProcesses } from "../../api/client";
import { isKind } from "../../api/http";
import { usePolled } from "../../api/usePolled";
import { parameter } from "../../base/routing";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import {
  Button,
  Checkbox,
  CommandLine,
  SearchField,
  SegmentedControl,
  Select,
} from "../../ui/Controls";
import { EmptyState, ProblemNotice } from "../../ui/Notices";
import { Tooltip } from "../../ui/Overlays";
import type { GroupSelector, Process } from "../../wire/generated/models";
import { useAttach } from "../attach/useAttach";
import { AttachedTargets, Interests } from "./AttachedTargets";
import type { Interesting } from "./interest";
import styles from "./Picker.module.css";
import { ProcessTable, type ProcessTableHandle } from "./ProcessTable";
import { expressionHolds, expressionOf, type Grouping, type PickerRow, pickerRows } from "./rows";

const REFRESH_MS = 2000;
const NONE: readonly Process[] = [];
const GROUPINGS: readonly { readonly value: Grouping; readonly label: string }[] = [
  { value: "none", label: "Processes" },
  { value: "tree", label: "Trees" },
  { value: "container", label: "Containers" },
  { value: "unit", label: "Units" },
];
const MATCH = { kind: "match", pid: null, start_ticks: null } as const;

/** Selection of a process or group to observe. */
export function Picker() {
  const live = useStore(useLiveClient().live);
  const hosts = live?.hosts.filter((each) => each.connected) ?? [];
  const [chosenHost, setChosenHost] = useState(() => parameter("host"));
  const host = chosenHost ?? hosts[0]?.id ?? null;
  const load = useCallback((signal: AbortSignal) => listProcesses(host, signal), [host]);
  const polled = usePolled(load, REFRESH_MS);
  const uid = usePolled(getHealth, null).value?.uid ?? null;

  const [typed, setTyped] = useState("");
  const [mine, setMine] = useState(false);
  const attaching = useAttach();
  const table = useRef<ProcessTableHandle>(null);

  const all = polled.value?.processes ?? NONE;
  const [grouping, setGrouping] = useState<Grouping>("none");
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set());
  const { rows, found } = useMemo(() => {
    const fits = (each: Process) => !mine || each.uid === uid;
    return pickerRows(all, { grouping, typed, fits, turned });
  }, [all, grouping, mine, uid, typed, turned]);
  const expression = useMemo(() => expressionOf(typed, found), [typed, found]);
  const fitting = useMemo(
    () =>
      expression === null
        ? 0
        : all.filter((each) => each.refusal === null && expressionHolds(each, expression)).length,
    [all, expression],
  );

  const turn = ({ key }: PickerRow) =>
    setTurned((before) => {
      const after = new Set(before);
      if (!after.delete(key)) {
        after.add(key);
      }
      return after;
    });
  const pickInteresting = ({ process, group, name }: Interesting) => {
    hideHints();
    if (group !== null) {
      attachToGroup(group, name);
    } else if (process !== null) {
      const { pid, start_ticks } = process;
      attaching.attachTo({ host, pid, start_ticks }, "push", name);
    }
  };
  const attachToGroup = (group: GroupSelector, program: string | null = null) =>
    attaching.attachTo({ host, pid: null, group }, "push", program);
  /** Attach to the process of a row, or to its whole subtree. */
  const pick = (row: PickerRow, all = false) => {
    const { process, group } = row;
    hideHints();
    if (group !== null && (all || process === null)) {
      attachToGroup(group, process?.name);
    } else if (process === null) {
      turn(row);
    } else if (process.refusal !== null) {
      attaching.fail(process.refusal);
    } else {
      const { pid, start_ticks, name } = process;
      attaching.attachTo({ host, pid, start_ticks }, "push", name);
    }
  };
  const onSearchKey = (event: KeyboardEvent) => {
    const first = rows.find(({ process }) => process !== null && found.includes(process));
    if (event.key === "ArrowDown" && rows.length > 0) {
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
      <Hints />
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
          placeholder="Name, command line, pid, :port, user, container, pod or unit"
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
        <SegmentedControl
          label="Rows"
          value={grouping}
          choices={GROUPINGS}
          onChange={(next) => {
            setGrouping(next);
            setTurned(new Set());
          }}
        />
        <span className={styles.count} role="status">
          {polled.value === null ? "" : `${found.length} of ${all.length}`}
        </span>
        {expression === null || fitting < 2 ? null : (
          <Tooltip
            text={
              <>
                All processes that match <code>{expression}</code>, as they come and go
              </>
            }
          >
            <Button
              onClick={() => attachToGroup({ ...MATCH, value: expression })}
              disabled={attaching.busy !== null}
            >
              Attach to all {fitting} that match
            </Button>
          </Tooltip>
        )}
        <Button onClick={attaching.attachDemo} disabled={attaching.busy === "demo"}>
          {attaching.busy === "demo" ? "Starting…" : "Start the demo"}
        </Button>
      </header>
      {typed === "" ? (
        <>
          <p className={styles.demo}>
            The demo is a Python program of about thirty threads that compute, share a lock that
            hurts, write files, talk over sockets and come and go, with a pool that is too large
            until a policy steers it.
          </p>
          <Interests processes={all} onPick={pickInteresting} />
        </>
      ) : null}
      {polled.value === null && polled.problem === null ? (
        <EmptyState title="Loading processes…" />
      ) : null}
      {polled.value !== null && found.length === 0 ? (
        <EmptyState title={all.length === 0 ? "No processes found" : "No process matches"}>
          <p>
            {typed === ""
              ? "Start a multi-threaded program, or the demo that comes with tidscope."
              : `No process has “${typed}” in its name, command line, pid, ports, user, container, pod or unit.`}
          </p>
          {typed === "" ? (
            <Button variant="primary" onClick={attaching.attachDemo}>
              Start the demo
            </Button>
          ) : (
            <Button onClick={() => setTyped("")}>Show all</Button>
          )}
        </EmptyState>
      ) : null}
      {polled.value?.note ? <p role="note">{polled.value.note}</p> : null}
      {found.length === 0 ? null : (
        <ProcessTable
          rows={rows}
          grouping={grouping}
          busy={attaching.busy}
          onPick={pick}
          onTurn={turn}
          handle={table}
        />
      )}
    </section>
  );
}

/** Instructions for starting a collector. */
function NoCollector() {
  const scheme = window.location.protocol === "https:" ? "wss" : "ws";
  const backend = `${scheme}://${window.location.host}/ws/collector`;
  return (
    <EmptyState title="No collector is connected">
      <p>
        The backend is running, but no collector is connected to it. A collector reads the kernel's
        counters on the host you want to watch: through taskstats as root, otherwise from /proc.
      </p>
      <div className={styles.commands}>
        <p>
          To run collector and backend together on this host (restarts the collector if it exits):
        </p>
        <CommandLine command="sudo tidscope up" what="the command that starts both" />
        <p>
          To run only a collector, with the secret that <code>tidscope hosts add NAME</code> prints
          where the backend runs:
        </p>
        <CommandLine
          command={`sudo --preserve-env=TIDSCOPE_COLLECTOR_SECRET tidscope collect --backend ${backend}`}
          what="the command that starts a collector"
        />
      </div>
      <p>This page continues as soon as a collector connects.</p>
    </EmptyState>
  );
}

const KEY = "tidscope.hints";
const SEEN = "seen";

/** Dismiss the hints permanently in this browser. */
function hideHints(): void {
  window.localStorage.setItem(KEY, SEEN);
}

/** The first steps, until the user took one or closed them. */
function Hints() {
  const [shown, setShown] = useState(() => window.localStorage.getItem(KEY) !== SEEN);
  if (!shown) {
    return null;
  }
  return (
    <section className={styles.hints} aria-label="First steps">
      <ol>
        <li>
          <strong>Pick</strong> a process or group: nothing is stopped or changed in it.
        </li>
        <li>
          <strong>Drag</strong> over a moment in any chart: everything answers for that moment.
        </li>
        <li>
          <strong>Record</strong> a run, change something, and compare the two.
        </li>
      </ol>
      <Button
        variant="quiet"
        onClick={() => {
          hideHints();
          setShown(false);
        }}
      >
        Got it
      </Button>
    </section>
  );
}
