/** The last events of a target; a series of equal ones is one entry. */

import type { TargetEvent } from "../wire/generated/models";

const KEPT = 500;

export interface LoggedEvent {
  readonly id: number;
  /** When it happened; of a series the last one. */
  readonly t_s: number;
  /** When the series began: `t_s` of a single event. */
  readonly since_s: number;
  /** How many equal events this stands for; those that count something are added up instead. */
  readonly times: number;
  readonly event: TargetEvent;
}

/** These are many, and of one thread each: they neither are nor break a series. */
const OF_THREADS: ReadonlySet<TargetEvent["type"]> = new Set([
  "thread_born",
  "thread_exited",
  "thread_renamed",
]);

export class EventLog {
  /** Changes of the log: entries made, and entries that went on. */
  edition = 0;
  /** Entries there were in all. */
  total = 0;
  private kept: LoggedEvent[] = [];

  add(t_s: number, event: TargetEvent): void {
    this.edition++;
    if (!OF_THREADS.has(event.type)) {
      const at = this.kept.findLastIndex((logged) => !OF_THREADS.has(logged.event.type));
      const before = this.kept[at];
      const joined = before && joinedTo(before, t_s, event);
      if (joined) {
        this.kept.splice(at, 1);
        this.kept.push(joined);
        return;
      }
    }
    this.kept.push({ id: this.total++, t_s, since_s: t_s, times: 1, event });
    // Cut now and then, not at every event: a frame can bring thousands.
    if (this.kept.length > 2 * KEPT) this.kept = this.kept.slice(-KEPT);
  }

  /** Give the newest entry that fits another event, such as one with a reason. */
  amend(fits: (event: TargetEvent) => boolean, event: TargetEvent): void {
    const at = this.kept.findLastIndex((logged) => fits(logged.event));
    const before = this.kept[at];
    if (!before) return;
    this.kept[at] = { ...before, event };
    this.edition++;
  }

  /** The last ones of a stretch of time, newest last. */
  between(from_s: number, to_s: number): readonly LoggedEvent[] {
    const within = this.kept.filter(({ since_s, t_s }) => since_s <= to_s && t_s >= from_s);
    return within.slice(-KEPT);
  }
}

/** The entry that goes on with one more event; null if it is another kind of event. */
function joinedTo(before: LoggedEvent, t_s: number, event: TargetEvent): LoggedEvent | null {
  const last = before.event;
  if ("count" in last && "count" in event && last.type === event.type) {
    return { ...before, t_s, event: { ...last, count: last.count + event.count } };
  }
  const same = JSON.stringify(last) === JSON.stringify(event);
  return same ? { ...before, t_s, times: before.times + 1 } : null;
}
