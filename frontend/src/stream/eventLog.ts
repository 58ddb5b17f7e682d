/** The last events of a target; a series of equal ones is one entry. */

import type { FrameHeader, FramesLost, TargetEvent } from "../wire/generated/models";

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

/** Reason of a gap until the backend says why. */
const NO_REASON = "frames did not reach this page";
/** Stretches that are kept. */
const MAX_GAPS = 200;

/** Where the stream of frames is: number and time of the newest one. */
interface Position {
  readonly seq: number;
  readonly now_s: number;
}

/** Frames that came, were merged, or never came. */
export class LossLog {
  frames = 0;
  coalesced = 0;
  missing = 0;
  gaps = 0;
  /** Stretches of time without frames, seconds since attach. */
  readonly stretches: (readonly [number, number])[] = [];
  /** Frames after the newest one that are known to be lost. */
  private announced = 0;

  constructor(private readonly events: EventLog) {}

  /** The backend says that frames are lost; their numbers may have shown it already. */
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

  /** Count what is missing between the newest frame and the one that comes at `t_s`. */
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
