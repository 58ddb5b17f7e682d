/** Frames that did not come: counted, and listed as events and as stretches of time. */

import type { FrameHeader, FramesLost, TargetEvent } from "../wire/generated/models";
import type { EventLog } from "./eventLog";

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
