import type { ChartTheme } from "../../../../charts/palette";
import { PART_NAMES, PARTS, type Part } from "../../../../model/breakdown";
import { formatNumber, formatValue, NO_VALUE } from "../../../../model/format";
import type { TimesView } from "../../../../model/views";
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

/** From the top of the stack to its bottom, as in the chart. */
const ORDER = [...PARTS].reverse();

/** Legend: each part with its share and seconds in the window; what is not there, and why. */
export function PartList({ times, theme }: { times: TimesView; theme: ChartTheme }) {
  const { whole, absent } = times;
  const lacking = new Set(absent.map(({ part }) => part));
  const shown = ORDER.filter((part) =>
    part === "rest" || part === "unsplit"
      ? whole.parts[part] > 0
      : lacking.has(part) || !Number.isNaN(whole.parts[part]),
  );
  return (
    <div className={styles.legend}>
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
              <tr key={part} data-part={part} data-available={there} title={MEANINGS[part]}>
                <th scope="row">
                  <Swatch part={there ? part : "unsplit"} theme={theme} />
                  <span>{PART_NAMES[part]}</span>
                </th>
                {there ? (
                  <>
                    <td>{formatValue(seconds / whole.wall_s, "share")}</td>
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
          <strong>{parts.map((part) => PART_NAMES[part]).join(", ")}:</strong> {reason}.
        </p>
      ))}
    </div>
  );
}

/** Parts that lack for the same reason are named together. */
function reasonsOf({ absent }: TimesView): readonly (readonly [string, readonly Part[]])[] {
  const reasons = new Map<string, Part[]>();
  for (const { part, reason } of absent) {
    reasons.set(reason, [...(reasons.get(reason) ?? []), part]);
  }
  return [...reasons];
}
