/** Pools of threads without a name behind an event loop, as libuv's: threads that began together. */

import type { ViewInput } from "../chartView";
import { mainThreads } from "../facts/mainThreads";
import { counted, formatDuration } from "../format";
import { wakePartners } from "../wakes";
import {
  type Cohort,
  idleAtFutexes,
  inStates,
  mainActivity,
  measured,
  percent,
  type Rule,
  type ThreadTimes,
} from "./finding";

/** Maximum time between the starts of two threads of a pool, in seconds; the kernel has ticks. */
const TOGETHER_S = 0.015;
const SIZES = [2, 128] as const;

export function cohorts(input: ViewInput, threads: readonly ThreadTimes[]): readonly Cohort[] {
  const { model } = input;
  const mains = new Set([...mainThreads(model)].map(({ tid }) => tid));
  return threads
    .filter(({ tid, wall }) => mains.has(tid) && wall > 0)
    .filter((main) => inStates(main, "poll") > 0)
    .flatMap((main): readonly Cohort[] => {
      const unnamed = threads
        .filter(
          ({ tid, name, process }) =>
            tid !== main.tid && name === main.name && process === main.process,
        )
        .toSorted((a, b) => a.born_s - b.born_s || a.tid - b.tid);
      if (unnamed.length < SIZES[0]) return [];
      const wakers = new Map(
        wakePartners(input, main.tid, "wakers").map(({ tid, per_s }) => [tid, per_s] as const),
      );
      const rateOf = ({ tid }: ThreadTimes): number => wakers.get(tid) ?? 0;
      return born(unnamed, (thread) => rateOf(thread) >= DONE_PER_S).map((own) => {
        const rates = own.map(rateOf);
        const wakes_per_s = rates.reduce((sum, each) => sum + each, 0);
        return { main, threads: own, wakes_per_s, least_per_s: Math.min(...rates) };
      });
    });
}

/**
 * Groups of threads that began together. Those that began before the first one that wakes the loop
 * are none of its pool: of Node they are helpers of V8, and of the debugger.
 *
 * @param threads in the order in which they began.
 */
export function born(
  threads: readonly ThreadTimes[],
  wakes: (thread: ThreadTimes) => boolean,
): readonly (readonly ThreadTimes[])[] {
  const groups: ThreadTimes[][] = [];
  for (const thread of threads) {
    const group = groups.at(-1);
    const last = group?.at(-1);
    if (group && last && thread.born_s - last.born_s <= TOGETHER_S) group.push(thread);
    else groups.push([thread]);
  }
  return groups
    .map((group) => group.slice(group.findIndex(wakes)))
    .filter((group) => group.some(wakes))
    .filter(({ length }) => length >= SIZES[0] && length <= SIZES[1]);
}

/** Thresholds: share of the time in which they wait for work, and how often each wakes the loop. */
const WAITING = 0.05;
const DONE_PER_S = 0.2;
const POLLING = 0.05;

export const COHORT_RULE: Rule = {
  subject: "pools behind event loops",
  ledger: true,
  find: ({ cohorts: all, seconds, go }, ease) =>
    (go ? [] : all).flatMap(({ main, threads, wakes_per_s, least_per_s }) => {
      const id = `cohort:${threads[0]?.key}`;
      const wall = threads.reduce((sum, each) => sum + each.wall, 0);
      const waiting = threads.reduce((sum, each) => sum + idleAtFutexes(each), 0);
      const whole = threads.every((each) => each.wall >= 0.9 * seconds);
      const polls = inStates(main, "poll") >= POLLING * main.wall;
      if (!whole || !polls || least_per_s < ease(id) * DONE_PER_S) return [];
      if (waiting * ease(id) > WAITING * wall) return [];
      const name = main.process || `${main.name} (${main.tid})`;
      return [
        {
          id,
          text:
            `All ${counted(threads.length, "thread")} of the pool behind the event loop of ${name} are busy all the time: ` +
            `they ${mainActivity(...threads)}, and what comes beside has to queue while the loop waits.`,
          numbers: [
            measured(waiting / wall, "share", "of their time waiting for work"),
            measured(wakes_per_s, "1/s", "wake-ups of the loop a second"),
            measured(inStates(main, "poll") / main.wall, "share", "of the loop’s time polling"),
          ],
          evidence: `They began together, over ${formatDuration(seconds)}. Threshold: ${percent(WAITING)} of their time.`,
          advice:
            "Give the pool more threads (UV_THREADPOOL_SIZE of Node), or do what blocks it elsewhere.",
          confidence: "likely" as const,
          link: { panel: "times" as const, key: `role:${main.role}` as const },
          weight: 0.5 * threads.length,
        },
      ];
    }),
};
