/**
 * Values of threads that are not exact although their field is: the table `inexact` of frames, and what
 * exits say of ended threads.
 */

import type { ThreadExited } from "../wire/generated/models";
import type { TableRows } from "./facts/factTable";
import type { Thread } from "./threads";

/**
 * What rows have: nothing, for the kernel's delay is longer than the thread's life; the ledger's in place
 * of such a delay; what was counted, and calls that were not come on top; of ended threads time in ticks.
 */
export type InexactLabel = "invalid" | "ledger" | "at_least" | "estimated";

export interface Inexact {
  readonly field: string;
  readonly label: InexactLabel;
  /** What the kernel says, in the field's unit; how many calls were not counted. NaN: not known. */
  readonly kernel: number;
  /** How long the thread lived when that was seen; NaN: not known. */
  readonly life_s: number;
}

const LABELS: ReadonlySet<string> = new Set<InexactLabel>(["invalid", "ledger", "at_least"]);

export class InexactValues {
  /** Of living threads, by their ids and the fields' places in the catalogue. */
  private readonly living = new Map<number, Map<number, Inexact>>();
  private readonly ended = new WeakMap<Thread, readonly Inexact[]>();

  /**
   * The table of a frame.
   *
   * @param table Its rows; undefined: the frame does not carry it.
   * @param whole It has all rows, as that of a key frame.
   */
  take(table: TableRows | undefined, whole: boolean): void {
    if (whole) this.living.clear();
    if (!table) return;
    const {
      tid = [],
      field = [],
      kernel = [],
      life_ns = [],
      name = [],
      label = [],
    } = table.columns;
    for (let row = 0; row < table.rows; row++) {
      const key = Number(tid[row]);
      const known = this.living.get(key) ?? new Map<number, Inexact>();
      const says = String(label[row]);
      if (Number(kernel[row]) === 0 && Number(life_ns[row]) === 0) known.delete(Number(field[row]));
      else if (LABELS.has(says)) {
        known.set(Number(field[row]), {
          field: String(name[row]),
          label: says as InexactLabel,
          kernel: Number(kernel[row]),
          life_s: Number(life_ns[row]) / 1e9,
        });
      }
      if (known.size > 0) this.living.set(key, known);
      else this.living.delete(key);
    }
  }

  /** A thread ended: what is not exact in its totals. */
  end(thread: Thread, { inexact = [], totals }: ThreadExited): void {
    const before = this.of(thread);
    this.living.delete(thread.tid);
    const unknown = { kernel: Number.NaN, life_s: thread.life_s ?? Number.NaN };
    const labelled = inexact.map(
      (field): Inexact =>
        before.find((one) => one.field === field) ?? {
          ...{ field, label: labelOf(field, field in totals), ...unknown },
        },
    );
    // An exit record has no calls that were not counted.
    const bounds = before.filter(({ label }) => label === "at_least");
    if (labelled.length + bounds.length > 0) this.ended.set(thread, [...labelled, ...bounds]);
  }

  /** Of one thread. */
  of(thread: Thread): readonly Inexact[] {
    if (thread.end_s !== null) return this.ended.get(thread) ?? [];
    return Array.from(this.living.get(thread.tid)?.values() ?? []);
  }
}

/** Of a field that an exit calls inexact. */
function labelOf(field: string, given: boolean): InexactLabel {
  if (!given) return "invalid";
  return field === "cpu_run_ns" ? "estimated" : "ledger";
}
