import { counted } from "../../stream/format";
import type { SpanLock } from "../../wire/generated/models";
import { timeText } from "../traces/text";
import styles from "./Trace.module.css";

/** Locks that the thread of a span, or its process, waited for around that time. */
export function SpanLocks({ locks }: { readonly locks: readonly SpanLock[] }) {
  if (locks.length === 0) return null;
  return (
    <>
      <h3>Locks around that time</h3>
      <ul className={styles.locks} aria-label="Locks around that time">
        {locks.map((lock) => (
          <li key={`${lock.source} ${lock.name}`}>
            <strong>{lock.name === "" ? "a lock without a name" : lock.name}</strong>
            {`: ${timeText(lock.wait_ns)} of waiting in ${timeText(lock.over_ns)}`}
            {lock.waits === 0 ? "" : `, ${counted(lock.waits, "wait")}`}
            {lock.woken_by === null ? "" : `; ${lock.woken_by} ended most of it`}
          </li>
        ))}
      </ul>
    </>
  );
}
