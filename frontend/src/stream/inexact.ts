/**
 * Inexact values of threads in otherwise exact fields: the frames' table `inexact`, and labels in
 * exit records. Check that live and ended threads together use the process' CPU. The kernel
 * accounts both independently: each thread (taskstats), and the process as a whole (its CPU clock).
 */

import type { ThreadExited } from "../wire/generated/models";
import type { TableRows } from "./facts/factTable";
import type { Thread } from "./threads";

/**
 * Reasons of inexactness.
 * - invalid: withheld, because the kernel's delay exceeds the thread's life.
 * - ledger: the ledger's value replaces such a delay.
 * - at_least: a lower bound; uncounted calls come on top.
 * - estimated: CPU time in clock ticks, of an ended thread.
 */
export type InexactLabel = "invalid" | "ledger" | "at_least" | "estimated";

export interface Inexact {
  readonly field: string;
  readonly label: InexactLabel;
  /** The kernel's value in the field's unit, or the number of uncounted calls; NaN if unknown. */
  readonly kernel: number;
  /** Lifetime of the thread at that moment; NaN if unknown. */
  readonly life_s: number;
}

const LABELS: ReadonlySet<string> = new Set<InexactLabel>(["invalid", "ledger", "at_least"]);

export class InexactValues {
  /** Labels of live threads, by thread ID and the field's index in the catalogue. */
  private readonly living = new Map<number, Map<number, Inexact>>();
  private readonly ended = new WeakMap<Thread, readonly Inexact[]>();

  /**
   * Set the table of a frame.
   * @param table Its rows; undefined if the frame lacks the table.
   * @param whole True if the table has all rows, as in a key frame.
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

  /** Record the inexact totals of an ended thread. */
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
    // An exit record lacks the number of uncounted calls.
    const bounds = before.filter(({ label }) => label === "at_least");
    if (labelled.length + bounds.length > 0) this.ended.set(thread, [...labelled, ...bounds]);
  }

  /** Inexact values of one thread. */
  of(thread: Thread): readonly Inexact[] {
    if (thread.end_s !== null) return this.ended.get(thread) ?? [];
    return Array.from(this.living.get(thread.tid)?.values() ?? []);
  }
}

/** Label of a field that an exit record calls inexact. */
function labelOf(field: string, given: boolean): InexactLabel {
  if (!given) return "invalid";
  return field === "cpu_run_ns" ? "estimated" : "ledger";
}

/** CPU seconds since the first frame that reported both. */
export interface CpuCheck {
  readonly process_s: number;
  readonly threads_s: number;
}

export class Reconciliation {
  private first: { readonly process_ns: number; readonly threads_ns: number } | null = null;
  private last: { readonly process_ns: number; readonly threads_ns: number } | null = null;

  /**
   * Record a frame.
   * @param process_ns CPU of the process since its start; null if not reported.
   * @param threads_ns CPU of live threads, and of threads that ended since attach; NaN if unknown.
   */
  note(process_ns: number | null, threads_ns: number): void {
    if (process_ns === null || Number.isNaN(threads_ns)) return;
    this.last = { process_ns, threads_ns };
    // Threads that ended before attach are in the process only: just growth is compared.
    this.first ??= this.last;
  }

  /** The comparison; null until two frames reported both. */
  get check(): CpuCheck | null {
    const { first, last } = this;
    if (first === null || last === null || first === last) return null;
    return {
      process_s: (last.process_ns - first.process_ns) / 1e9,
      threads_s: (last.threads_ns - first.threads_ns) / 1e9,
    };
  }
}

/** Deviation of the threads, relative to the process; NaN while its CPU use is negligible. */
export function deviation({ process_s, threads_s }: CpuCheck): number {
  return process_s < 0.01 ? Number.NaN : (threads_s - process_s) / process_s;
}
