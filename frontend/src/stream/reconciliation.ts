/**
 * Check that live and ended threads together use the process' CPU. The kernel accounts both
 * independently: each thread (taskstats), and the process as a whole (its CPU clock).
 */

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
