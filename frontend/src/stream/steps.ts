/**
 * Views over all threads, computed in steps of some threads each, so that frames can be ingested in
 * between.
 */

/** A computation in steps: yields between two steps, returns the result. */
export type Steps<Made> = Generator<undefined, Made>;

/** Threads per step: a few milliseconds when all threads are busy. */
export const STEP_THREADS = 64;

/** Run all steps at once. */
export function finished<Made>(steps: Steps<Made>): Made {
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}
