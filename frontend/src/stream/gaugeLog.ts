/** A gauge over time, stored as its changes. */

import type { FrameHeader } from "../wire/generated/models";

const KEPT = 10_000;

export interface GaugeChange {
  readonly t_s: number;
  /** NaN if unavailable. */
  readonly value: number;
}

export class GaugeLog {
  private changes: GaugeChange[] = [];

  /** @param maxAge_s Minimum retention of changes, unless there are too many. */
  constructor(private readonly maxAge_s = Number.POSITIVE_INFINITY) {}

  /** The value in effect; undefined before the first. */
  get last(): number | undefined {
    return this.changes.at(-1)?.value;
  }

  /** Record the current value; stored only if changed. */
  note(t_s: number, value: number): void {
    if (Object.is(this.last, value)) return;
    this.changes.push({ t_s, value });
    const oldest_s = this.changes[0]?.t_s ?? t_s;
    // Trimmed in batches, not per change. The change before the retained span is kept: it holds at
    // the span's start.
    if (oldest_s < t_s - 2 * this.maxAge_s)
      this.changes = [...this.between(t_s - this.maxAge_s, t_s)];
    if (this.changes.length > 2 * KEPT) this.changes = this.changes.slice(-KEPT);
  }

  /** The changes of a span, preceded by the one in effect at its start. */
  between(t0_s: number, t1_s: number): readonly GaugeChange[] {
    const known = this.changes.filter((change) => change.t_s <= t1_s);
    const before = known.findLastIndex((change) => change.t_s <= t0_s);
    return known.slice(Math.max(0, before));
  }

  /** The value in effect at a moment; NaN before the first. */
  at(t_s: number): number {
    return this.between(t_s, t_s)[0]?.value ?? Number.NaN;
  }

  /** Growth of a count within a span; NaN if unknown. */
  grownWithin(t0_s: number, t1_s: number): number {
    const changes = this.between(t0_s, t1_s).filter(({ value }) => !Number.isNaN(value));
    return (changes.at(-1)?.value ?? Number.NaN) - (changes[0]?.value ?? Number.NaN);
  }

  /** Values at the ends of `points` equal parts of a span; NaN before the first. */
  sampled(t0_s: number, t1_s: number, points: number): Float32Array {
    const changes = this.between(t0_s, t1_s);
    const out = new Float32Array(points).fill(Number.NaN);
    let i = -1;
    for (let p = 0; p < points; p++) {
      const t = t0_s + ((p + 1) * (t1_s - t0_s)) / points + 1e-9;
      while (i + 1 < changes.length && (changes[i + 1]?.t_s ?? 0) <= t) i++;
      out[p] = changes[i]?.value ?? Number.NaN;
    }
    return out;
  }
}

/**
 * Time for which the last GOMAXPROCS is assumed if answers are late, in seconds: the host is busy.
 */
const LATE_S = 10;

/** GOMAXPROCS of a program over time. */
export class SizeLog extends GaugeLog {
  private read_s = Number.NEGATIVE_INFINITY;

  /** Record a reading; if the program answers late, the last value is held for a while. */
  noteRead(t_s: number, { gomaxprocs, gomaxprocs_missed }: FrameHeader["process"]): void {
    if (gomaxprocs !== null) this.read_s = t_s;
    else if (gomaxprocs_missed != null && t_s - this.read_s < LATE_S) return;
    this.note(t_s, gomaxprocs ?? Number.NaN);
  }
}
