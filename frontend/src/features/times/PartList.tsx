import type { ChartTheme } from "../../chart/palette";
import type { Part } from "../../stream/breakdown";
import { fieldNamed, formatNumber, formatValue, NO_VALUE } from "../../stream/format";
import { partName, stateOf, TIME_PARTS, type TimePart } from "../../stream/timeParts";
import type { TimesView } from "../../stream/views";
import { scrollable } from "../../ui/scrollable";
import { Swatch } from "./Swatch";
import styles from "./TimesPanel.module.css";

const MEANINGS: Readonly<Record<Part, string>> = {
  cpu: "On a CPU, in the program or in the kernel on its behalf.",
  queue: "Runnable, waiting for a CPU.",
  blkio: "Waiting for synchronous block I/O.",
  swapin: "Reading pages back from swap.",
  memory: "Thrashing, reclaim, compaction and page copies.",
  irq: "CPU time taken from the thread by interrupts.",
  unsplit:
    "Remaining time of threads without delay accounting; may include block I/O, swap and memory delays.",
  rest: "Remaining time, derived: sleeping, or waiting for a lock, a socket or a timer.",
};

const PARKED =
  "In futex(2) at a lock where idle workers of its runtime wait, by the thread's share of waits there.";

/** From the top of the stack to its bottom, as in the chart. */
const ORDER = [...TIME_PARTS].reverse();

function meaningOf(part: TimePart): string {
  if (part === "parked") {
    return PARKED;
  }
  const state = stateOf(part);
  return state === undefined ? MEANINGS[part as Part] : (fieldNamed(state.field)?.meaning ?? "");
}

/** Legend: each part with its share and seconds in the window; what is not there, and why. */
export function PartList({ times, theme }: { times: TimesView; theme: ChartTheme }) {
  const { whole, absent, ledger, no_ledger } = times;
  const lacking = new Set(absent.map(({ part }) => part));
  const shown = ORDER.filter((part) =>
    part === "rest" || part === "unsplit"
      ? whole.parts[part] > 0
      : lacking.has(part) || !Number.isNaN(whole.parts[part]),
  );
  return (
    <div className={styles.legend} {...scrollable("Parts and their shares")}>
      <table className={styles.parts} aria-label={`Where the time of ${times.name} goes`}>
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">Share</th>
            <th scope="col">Seconds</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((part) => {
            const seconds = whole.parts[part];
            const there = !Number.isNaN(seconds);
            return (
              <tr key={part} data-part={part} data-available={there} title={meaningOf(part)}>
                <th scope="row">
                  <Swatch part={there ? part : "unsplit"} theme={theme} />
                  <span>{partName(part)}</span>
                </th>
                {there ? (
                  <>
                    <td>{formatValue(seconds / (whole.wall_s || 1), "share")}</td>
                    <td>{formatNumber(seconds, "s")}</td>
                  </>
                ) : (
                  <td colSpan={2} className={styles.none}>
                    {NO_VALUE} not available
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
      </table>
      {reasonsOf(times).map(([reason, parts]) => (
        <p key={reason} className={styles.reason} data-reason={parts[0]}>
          <strong>{parts.map(partName).join(", ")}:</strong> {reason}.
        </p>
      ))}
      {ledger || no_ledger === null ? null : (
        <p className={styles.reason} data-reason="ledger">
          <strong>Reasons of waits:</strong> {no_ledger}.
        </p>
      )}
    </div>
  );
}

/** Parts that lack for the same reason are named together. */
function reasonsOf({ absent }: TimesView): readonly (readonly [string, readonly TimePart[]])[] {
  const reasons = new Map<string, TimePart[]>();
  for (const { part, reason } of absent) {
    reasons.set(reason, [...(reasons.get(reason) ?? []), part]);
  }
  return [...reasons];
}
