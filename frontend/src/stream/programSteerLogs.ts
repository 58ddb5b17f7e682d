/** What steered the programs of a group, when, and what was decided: a log for each, bounded. */

import type { SteeredProgram, TargetEvent } from "../wire/generated/models";
import { KEPT_DECISIONS, SteerLog } from "./steerLog";
import type { DivisionView, SteerView } from "./steerView";

/** Programs that are remembered after they ended; the oldest go first. */
const KEPT_PROGRAMS = 128;

/** One program's log, under its name. */
export interface ProgramSteerLog {
  readonly name: string;
  readonly log: SteerLog;
}

export class ProgramSteerLogs {
  /** By process id. */
  readonly programs = new Map<number, ProgramSteerLog>();

  /** Take an event in; returns false if it is not of one program's steering. */
  note(t_s: number, event: TargetEvent): boolean {
    if (!("program" in event) || event.pid == null) return false;
    const { pid, program } = event;
    this.of(pid, program ?? `process ${pid}`).note(t_s, event);
    return true;
  }

  /** What began before the page's first frame; see `SteerLog.assume`. */
  assume(program: SteeredProgram, since_s: number, now_s: number): void {
    this.of(program.pid, program.name).assume(since_s, now_s, program.steering);
  }

  /** Grows with each change. */
  get edition(): number {
    let sum = this.programs.size;
    for (const { log } of this.programs.values()) sum += log.edition;
    return sum;
  }

  /** Decisions and restarts of all up to a moment, oldest first; null if nothing steered until then. */
  view(now_s: number): SteerView | null {
    const views = [...this.programs].flatMap(([pid, { name, log }]) => {
      const view = log.view(now_s);
      return view === null ? [] : [{ program: `${name} (${pid})`, view }];
    });
    if (views.length === 0) return null;
    const inOrder = <T extends { readonly t_s: number }>(of: (view: SteerView) => readonly T[]) =>
      views
        .flatMap(({ program, view }) => of(view).map((one) => ({ ...one, program })))
        .sort((a, b) => a.t_s - b.t_s);
    const decisions = inOrder(({ decisions }) => decisions);
    return {
      // Bands and bars would lie over each other: they belong to one program.
      bands: [],
      tried: [],
      tried_since_s: Number.NEGATIVE_INFINITY,
      total: views.reduce((sum, { view }) => sum + view.total, 0),
      decisions: decisions.slice(-KEPT_DECISIONS).map((one, i) => ({ ...one, id: i })),
      restarts: inOrder(({ restarts }) => restarts),
      divisions: this.divided(now_s),
      // Proofs and sweeps are of one program.
      proof: null,
      sweep: null,
    };
  }

  /** Those that were not released yet when the last of them was heard of. */
  private divided(now_s: number): readonly DivisionView[] {
    const all = [...this.programs].flatMap(([pid, { name, log }]) =>
      log.dividedAt(now_s, { pid, name }),
    );
    const last_s = Math.max(...all.map(({ t_s }) => t_s));
    return all.filter(({ released_s }) => released_s === null || released_s > last_s);
  }

  private of(pid: number, name: string): SteerLog {
    const known = this.programs.get(pid);
    if (known?.name === name) return known.log;
    // Another program has that id now.
    this.programs.delete(pid);
    const log = new SteerLog();
    this.programs.set(pid, { name, log });
    for (const old of this.programs.keys()) {
      if (this.programs.size <= KEPT_PROGRAMS) break;
      this.programs.delete(old);
    }
    return log;
  }
}
