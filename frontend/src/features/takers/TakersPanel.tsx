/** Feature `takers`: the worker's view of CPU competitors in, a table and limits out. */

import { useRef } from "react";
import { formatDuration, formatValue } from "../../stream/format";
import type { CgroupView, TakerRow, TakersView } from "../../stream/takers";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import {
  countColumn,
  FactMessage,
  kindColumn,
  roleColumn,
  shareColumn,
  textColumn,
  timeColumn,
  useFacts,
} from "../facts/FactColumns";
import styles from "../facts/facts.module.css";

const KINDS: Readonly<Record<TakerRow["kind"], string>> = {
  own: "own threads",
  process: "other process",
  kernel: "kernel thread",
  idle: "idle CPU",
  unknown: "too long ago",
};

const IDLE =
  "The CPU was idle and took time to wake up, or its hypervisor had not scheduled it yet.";

const keyOf = ({ key }: TakerRow) => key;

const COLUMNS: readonly SortedColumn<TakerRow>[] = [
  textColumn("name", "Ran meanwhile", ({ name }) => name, {
    cell: ({ name, kind }) =>
      kind === "own" ? (
        <strong>{name}</strong>
      ) : (
        <span title={kind === "idle" ? IDLE : name}>{name}</span>
      ),
  }),
  kindColumn("kind", "Kind", ({ kind }) => KINDS[kind], 8.5),
  timeColumn(
    "delay",
    "Delay",
    ({ delay }) => delay,
    "Run-queue delay: thread-seconds a second in which threads of this process were runnable while it ran on the CPU they waited for.",
  ),
  shareColumn("share", "Share", ({ share }) => share, { under: "of the delay" }),
  countColumn("threads", "Threads", ({ threads }) => threads, "delayed"),
  roleColumn("Most delayed", ({ role }) => role),
];

/** Threads that ran while threads of the target were runnable. */
export function TakersPanel() {
  const place = useRef<HTMLDivElement>(null);
  const view = useFacts("takers", place);
  return (
    <Panel title="Who takes the CPU" note={noteOf(view)} data-panel="takers">
      <div ref={place} data-state={view?.state ?? "waiting"}>
        {view === null ? null : <Limits view={view} />}
        {view?.state === "ok" ? (
          <SortedTable
            label="Who takes the CPU"
            columns={COLUMNS}
            rows={view.rows}
            keyOf={keyOf}
            sortedBy="delay"
            first={10}
            none="No thread was delayed."
          />
        ) : (
          <FactMessage view={view} />
        )}
      </div>
    </Panel>
  );
}

function noteOf(view: TakersView | null): string {
  if (view?.state !== "ok") {
    return "run-queue delay by what ran meanwhile";
  }
  const delay = formatValue(view.delay, "s");
  return `run-queue delay by what ran meanwhile: ${delay} a second, mean over ${formatDuration(view.seconds)}`;
}

/** CPU limit, throttling and steal. */
function Limits({ view }: { readonly view: TakersView }) {
  const { cgroup, steal } = view;
  return (
    <dl className={styles.figures} aria-label="Limits">
      <div>
        <dt>CPU limit</dt>
        <dd>{limitText(cgroup)}</dd>
      </div>
      {cgroup === null || cgroup.limit === null ? null : (
        <div>
          <dt>Throttled</dt>
          <dd>{throttledText(cgroup)}</dd>
        </div>
      )}
      {Number.isNaN(steal) ? null : (
        <div>
          <dt title="CPU time that the hypervisor gave to others, all CPUs of this machine together.">
            Steal
          </dt>
          <dd>{formatValue(steal, "cores")}</dd>
        </div>
      )}
    </dl>
  );
}

function limitText(cgroup: CgroupView | null): string {
  const limit =
    cgroup === null || cgroup.limit === null
      ? "none for its control group"
      : formatValue(cgroup.limit, "cores");
  return cgroup?.gomaxprocs == null ? limit : `${limit}, GOMAXPROCS ${cgroup.gomaxprocs}`;
}

function throttledText({ periods, throttled, throttled_share }: CgroupView): string {
  if (periods === 0) {
    return "no periods yet";
  }
  const share = formatValue(throttled / periods, "share");
  return `${share} of periods, ${formatValue(throttled_share, "s")} a second`;
}
