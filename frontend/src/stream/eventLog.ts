/** The recent events of a target; a series of equal events is one entry. */

import type { FrameHeader, FramesLost, TargetEvent } from "../wire/generated/models";

const KEPT = 500;

export interface LoggedEvent {
  readonly id: number;
  /** Time of the event; for a series, the last one. */
  readonly t_s: number;
  /** Start of the series; equals `t_s` for a single event. */
  readonly since_s: number;
  /** Number of equal events in this entry; events with a count are summed instead. */
  readonly times: number;
  readonly event: TargetEvent;
}

/** Frequent events of single threads: each neither forms nor breaks a series. */
const OF_THREADS: ReadonlySet<TargetEvent["type"]> = new Set([
  "thread_born",
  "thread_exited",
  "thread_renamed",
]);

export class EventLog {
  /** Version of the log: new entries and extended entries. */
  edition = 0;
  /** Number of entries ever made. */
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
    // Trimmed in batches, not per event: a frame can bring thousands.
    if (this.kept.length > 2 * KEPT) this.kept = this.kept.slice(-KEPT);
  }

  /** Replace the event of the newest matching entry, such as by one with a reason. */
  amend(fits: (event: TargetEvent) => boolean, event: TargetEvent): void {
    const at = this.kept.findLastIndex((logged) => fits(logged.event));
    const before = this.kept[at];
    if (!before) return;
    this.kept[at] = { ...before, event };
    this.edition++;
  }

  /** Return the last entries of a time span, newest last. */
  between(from_s: number, to_s: number): readonly LoggedEvent[] {
    const within = this.kept.filter(({ since_s, t_s }) => since_s <= to_s && t_s >= from_s);
    return within.slice(-KEPT);
  }
}

/** Return the entry extended by one more event; null if the event is of another kind. */
function joinedTo(before: LoggedEvent, t_s: number, event: TargetEvent): LoggedEvent | null {
  const last = before.event;
  if ("count" in last && "count" in event && last.type === event.type) {
    return { ...before, t_s, event: { ...last, count: last.count + event.count } };
  }
  const same = JSON.stringify(last) === JSON.stringify(event);
  return same ? { ...before, t_s, times: before.times + 1 } : null;
}

/** Reason of a gap until the backend says why. */
const NO_REASON = "frames did not reach this page";
/** Maximum number of gaps kept. */
const MAX_GAPS = 200;

/** Position in the frame stream: number and time of the newest frame. */
interface Position {
  readonly seq: number;
  readonly now_s: number;
}

/** Received, coalesced and lost frames. */
export class LossLog {
  frames = 0;
  coalesced = 0;
  missing = 0;
  gaps = 0;
  /** Time spans without frames, in seconds since attach. */
  readonly stretches: (readonly [number, number])[] = [];
  /** Frames after the newest one that are known to be lost. */
  private announced = 0;

  constructor(private readonly events: EventLog) {}

  /** Record a loss announced by the backend; frame numbers may have revealed it already. */
  announce({ seq, now_s }: Position, { from_seq, to_seq, reason }: FramesLost): void {
    const gap = { type: "gap", from_seq, to_seq, reason } as const;
    if (to_seq <= seq) {
      const same = (event: TargetEvent) =>
        event.type === "gap" && event.from_seq <= to_seq && event.to_seq >= from_seq;
      this.events.amend((event) => same(event) && reasonOf(event) === NO_REASON, gap);
      return;
    }
    const first = Math.max(from_seq, seq + 1 + this.announced);
    if (first > to_seq) return;
    this.announced += to_seq - first + 1;
    this.missing += to_seq - first + 1;
    this.gaps++;
    this.events.add(now_s, { ...gap, from_seq: first });
  }

  /** Count frames missing between the newest frame and the one at `t_s`. */
  countMissing({ seq, now_s }: Position, { first_seq, events }: FrameHeader, t_s: number): void {
    const announced = this.announced;
    this.announced = 0;
    if (seq === 0 || first_seq <= seq + 1) return;
    const missing = first_seq - seq - 1;
    this.stretches.push([now_s, t_s]);
    if (this.stretches.length > MAX_GAPS) this.stretches.shift();
    if (missing <= announced) return;
    this.missing += missing - announced;
    this.gaps++;
    if (events.some((event) => event.type === "gap")) return;
    const from_seq = seq + 1 + announced;
    this.events.add(t_s, { type: "gap", from_seq, to_seq: first_seq - 1, reason: NO_REASON });
  }
}

function reasonOf(event: TargetEvent): string {
  return "reason" in event ? event.reason : "";
}

/** Whether an event is a change: not a thread present at the start, nor a decision to stay. */
export function isChange(event: TargetEvent, initial: boolean): boolean {
  if (event.type === "thread_born") return !initial;
  return event.type !== "steering_decided" || event.next_size !== event.size;
}
