/** The last events of a target. */

import type { TargetEvent } from "../wire/generated/models";

const KEPT = 500;

export interface LoggedEvent {
  readonly id: number;
  readonly t_s: number;
  readonly event: TargetEvent;
}

export class EventLog {
  total = 0;
  private kept: LoggedEvent[] = [];

  add(t_s: number, event: TargetEvent): void {
    this.kept.push({ id: this.total++, t_s, event });
    // Cut now and then, not at every event: a frame can bring thousands.
    if (this.kept.length > 2 * KEPT) this.kept = this.kept.slice(-KEPT);
  }

  /** The last ones up to a moment, newest last. */
  until(t_s: number): readonly LoggedEvent[] {
    return this.kept.filter((logged) => logged.t_s <= t_s).slice(-KEPT);
  }
}
