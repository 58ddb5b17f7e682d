/** Views of all threads, made in steps of some threads each, so that frames can come in between. */

/** Yields between two steps; returns what was made. */
export type Steps<Made> = Generator<undefined, Made>;

/** Threads of a step: a few milliseconds when all of them are busy. */
export const STEP_THREADS = 64;

/** Go through all steps at once. */
export function finished<Made>(steps: Steps<Made>): Made {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
