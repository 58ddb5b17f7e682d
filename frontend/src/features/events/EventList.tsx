/** Feature `events`: the worker's event view in, a list out. */

import { useState } from "react";
import { localTime, utcTime } from "../../base/clock";
import { useStore } from "../../base/useStore";
import { describeEvent } from "../../chart/describe";
import { useLiveClient } from "../../stream/client";
import { Checkbox } from "../../ui/Controls";
import { type Status, StatusIcon } from "../../ui/Notices";
import { Panel, scrollable } from "../../ui/Panel";
import type { TargetEvent } from "../../wire/generated/models";
import styles from "./EventList.module.css";

/** Frequent events of thread births and ends, shown on request. */
const OF_THREADS: ReadonlySet<TargetEvent["type"]> = new Set([
  "thread_born",
  "thread_exited",
  "thread_renamed",
]);
/** Whether an event is routine: in a group, processes exec all the time. */
function isRoutine(event: TargetEvent): boolean {
  const executed = event.type === "program_executed" && event.pid != null;
  return executed || OF_THREADS.has(event.type);
}
const WORRYING: ReadonlySet<TargetEvent["type"]> = new Set([
  "gap",
  "exit_records_lost",
  "deadlines_missed",
  "sample_failed",
]);

/** Events of the target, newest first. */
export function EventList() {
  const view = useStore(useLiveClient().events);
  const [threads, setThreads] = useState(false);
  const events = (view?.events ?? []).filter(({ event }) => threads || !isRoutine(event)).reverse();
  return (
    <Panel
      title="Events"
      note={view?.of_window ? "of this window" : null}
      className={styles.panel}
      controls={
        <Checkbox
          label="Show thread starts, renames and exits"
          checked={threads}
          onChange={setThreads}
        />
      }
    >
      {events.length === 0 ? (
        <p className={styles.none}>
          {view?.of_window ? "No events in this window." : "No events."}
        </p>
      ) : (
        <div className={styles.scroll} {...scrollable("Events, newest first")}>
          <ol className={styles.list}>
            {events.map(({ id, unix_ms, since_unix_ms, times, event }) => (
              <li key={id} className={styles.event} data-event={event.type}>
                <time title={spanText(since_unix_ms, unix_ms)}>{localTime(unix_ms)}</time>
                <StatusIcon status={kindOf(event)} />
                <span>
                  {describeEvent(event)}
                  {times > 1 ? ` (${times} times)` : ""}
                </span>
              </li>
            ))}
          </ol>
        </div>
      )}
    </Panel>
  );
}

function spanText(since_unix_ms: number, unix_ms: number): string {
  return since_unix_ms === unix_ms
    ? utcTime(unix_ms)
    : `${utcTime(since_unix_ms)} to ${utcTime(unix_ms)}`;
}

function kindOf(event: TargetEvent): Status {
  if (event.type === "steering_problem") {
    return event.problem === null ? "ok" : "warning";
  }
  const slowed = event.type === "rate_adapted" && event.rate_hz < event.previous_hz;
  const disagreed = event.type === "counters_source_changed" && event.disagreed;
  return slowed || disagreed || WORRYING.has(event.type) ? "warning" : "info";
}
