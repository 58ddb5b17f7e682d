/** Feature `waiting`: the worker's view of waits in, one table of what threads wait for out. */

import { useEffect, useRef } from "react";
import { byProgram, sumByProgram } from "../../base/byProgram";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES, type ChartTheme } from "../../chart/palette";
import { useLiveClient } from "../../stream/client";
import { nameAndPlace } from "../../stream/facts/places";
import { counted, formatDuration, formatTenths, formatValue } from "../../stream/format";
import { GROUP_NAMES } from "../../stream/states";
import type { CgroupView } from "../../stream/takers";
import { LEAST_SHARE, type WaitingView, type WaitKind, type WaitRow } from "../../stream/waiting";
import { SegmentedControl } from "../../ui/Controls";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import {
  countColumn,
  estimated,
  FactMessage,
  kindColumn,
  meanColumn,
  rateColumn,
  shareColumn,
  textColumn,
  threadsColumn,
  useFacts,
} from "../facts/FactColumns";
import styles from "../facts/facts.module.css";
import { LockPlace, StacksLink } from "../stacks/Places";
import { OpenedLock } from "./OpenedLock";

const KINDS: Readonly<Record<WaitKind, string>> = {
  ...GROUP_NAMES,
  lock: "lock",
  mutex: "lock",
  condition: "condition",
  gil: "Python's GIL",
  park: "idle park",
  join: "end of a thread",
  monitor: "monitor",
  call: "system call",
  unknown: "not known",
  cpu: "CPU",
  throttled: "CPU limit",
  disk: "disk, files",
  network: "network",
  pipes: "pipe, event",
  faults: "memory",
  other: "kernel",
};

const LEAST_TEXT = formatTenths(100 * LEAST_SHARE);
const BRIEF = "No thread waited for long.";

/** Processes outside the target: each by itself, or summed by name. */
const CHOICES = [
  { value: "processes", label: "Processes" },
  { value: "programs", label: "Programs" },
] as const;

const keyOf = ({ key }: WaitRow) => key;

const COLUMNS: readonly SortedColumn<WaitRow>[] = [
  textColumn<WaitRow>("name", "Waiting for", nameAndPlace, { cell: (row) => <What row={row} /> }),
  kindColumn("kind", "Kind", ({ kind }) => KINDS[kind], 6.5),
  estimated(
    threadsColumn(
      "wait",
      "Threads",
      ({ wait }) => wait,
      "Threads that waited for it, on average: 2.5 means that two and a half threads waited at any time.",
    ),
  ),
  estimated(
    shareColumn("share", "Share", ({ share }) => share, {
      under: "of thread time",
      tip: "Of the wall time of all threads.",
    }),
  ),
  estimated(rateColumn("waits", "Waits", ({ waits_per_s }) => waits_per_s)),
  estimated(meanColumn("mean", ({ mean_s }) => mean_s)),
  countColumn("waiters", "Waiters", ({ waiters }) => waiters, "threads"),
  textColumn("role", "Who waits", ({ role }) => role, { under: "most", width: 9 }),
  textColumn("by", "Who ends it", ({ by }) => by, {
    under: "most often",
    width: 9,
    tip: "For a lock, the role that wakes its waiters most often. For a socket or pipe, the party that ends most of the waiting.",
  }),
  textColumn("where", "Where", ({ key }) => key, {
    under: "code that waits",
    width: 13,
    cell: (row) => <Code row={row} />,
  }),
];

/** Name, where it is if it is a process elsewhere, and its command line in the tooltip. */
function What({ row }: { readonly row: WaitRow }) {
  const { name, where, detail } = row;
  const shown = nameAndPlace(row);
  return (
    <span title={detail === "" ? shown : `${shown}\n${detail}`}>
      {name}
      {where === "" ? null : <span className={styles.kind}> {where}</span>}
    </span>
  );
}

function Code({ row: { lock, name, states, role } }: { readonly row: WaitRow }) {
  if (lock?.count === 1) return <LockPlace lock={lock.lock} name={name} />;
  const what = role === "" ? { states } : { states, key: `role:${role}` as const };
  return (
    <StacksLink what={what} title="Flame graph of these waits" plain={null}>
      Stacks
    </StacksLink>
  );
}

/** Panel with the table of all waits; the row of a lock opens to its waiters and wakers. */
export function WaitingPanel() {
  const client = useLiveClient();
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("waiting", place);
  const by_program = useStore(byProgram);
  useEffect(() => client.request({ by_program }), [client, by_program]);
  return (
    <Panel
      title="Waiting on"
      note={noteOf(view)}
      data-panel="waiting"
      controls={
        <SegmentedControl
          label="Others that ran"
          value={by_program ? "programs" : "processes"}
          choices={CHOICES}
          onChange={(value) => sumByProgram(value === "programs")}
        />
      }
    >
      <div ref={place} data-state={view?.state ?? "waiting"}>
        {view?.state === "ok" ? <Tables view={view} /> : <FactMessage view={view} />}
      </div>
    </Panel>
  );
}

function Tables({ view }: { readonly view: WaitingView }) {
  const client = useLiveClient();
  const colours: ChartTheme = CHART_THEMES[useStore(theme)];
  const open = useStore(client.view).open_lock;
  const isOpen = ({ lock }: WaitRow) => lock !== null && lock.lock === open;
  const table = (label: string, rows: readonly WaitRow[], none: string) => (
    <SortedTable
      label={label}
      columns={COLUMNS}
      rows={rows}
      keyOf={keyOf}
      sortedBy="wait"
      first={12}
      pressed={isOpen}
      onPress={(row) => {
        if (row.lock !== null) client.request({ open_lock: isOpen(row) ? null : row.lock.lock });
      }}
      expands
      below={({ lock }) =>
        lock !== null && lock.lock === open ? (
          <OpenedLock view={view} row={lock} theme={colours} />
        ) : null
      }
      none={none}
    />
  );
  return (
    <>
      <Limits cgroup={view.cgroup} steal={view.steal} />
      {table("Waiting on", view.rows, view.small.length > 0 ? BRIEF : "No thread waited.")}
      {view.small.length > 0 ? (
        <details className={styles.parks}>
          <summary>
            {restText(`Below ${LEAST_TEXT} of thread time each`, "row", view.small)}
          </summary>
          {table("Small ones", view.small, "")}
        </details>
      ) : null}
      {view.parks.length > 0 ? (
        <details className={styles.parks}>
          <summary>{restText("Parked threads wait here", "park", view.parks)}</summary>
          {table("Parks", view.parks, "")}
        </details>
      ) : null}
      {view.calls.length > 0 ? (
        <details className={styles.parks}>
          <summary>{restText("Waits in other system calls", "call", view.calls)}</summary>
          {table("Other system calls", view.calls, "")}
        </details>
      ) : null}
    </>
  );
}

function noteOf(view: WaitingView | null): string {
  if (view?.state !== "ok") {
    return "locks, CPUs, disks, sockets, pipes";
  }
  const omitted = view.omitted > 0 ? `; ${counted(view.omitted, "row")} left out` : "";
  return `locks, CPUs, disks, sockets, pipes; mean over ${formatDuration(view.seconds)}${omitted}`;
}

function restText(what: string, unit: string, rows: readonly WaitRow[]): string {
  const wait = rows.reduce((sum, row) => sum + row.wait, 0);
  return `${what}: ${counted(rows.length, unit)}, ${formatValue(wait, "threads")}`;
}

/** A steal below this is not shown, in CPUs. */
const LEAST_STEAL = 0.005;

/** CPU limit, throttling and steal, where there are any. */
function Limits({ cgroup, steal }: Pick<WaitingView, "cgroup" | "steal">) {
  const limited = cgroup !== null && cgroup.limit !== null;
  const stolen = steal >= LEAST_STEAL;
  if (!limited && !stolen) return null;
  return (
    <dl className={styles.figures} aria-label="Limits">
      {limited ? (
        <>
          <div>
            <dt>CPU limit</dt>
            <dd>{limitText(cgroup)}</dd>
          </div>
          <div>
            <dt>Throttled</dt>
            <dd>{throttledText(cgroup)}</dd>
          </div>
        </>
      ) : null}
      {stolen ? (
        <div>
          <dt title="CPU time that the hypervisor gave to others, all CPUs of this machine together.">
            Steal
          </dt>
          <dd>{formatValue(steal, "cores")}</dd>
        </div>
      ) : null}
    </dl>
  );
}

function limitText({ limit, gomaxprocs }: CgroupView): string {
  const cores = formatValue(limit ?? Number.NaN, "cores");
  return gomaxprocs === null ? cores : `${cores}, GOMAXPROCS ${gomaxprocs}`;
}

function throttledText({ periods, throttled, throttled_share }: CgroupView): string {
  if (periods === 0) {
    return "no periods yet";
  }
  const share = formatValue(throttled / periods, "share");
  return `${share} of periods, ${formatValue(throttled_share, "cores")} on average`;
}
