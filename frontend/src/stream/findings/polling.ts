/** Threads that wake up to look whether there is something to do. */

import { counted, formatDuration, formatValue } from "../format";
import { inStates, measured, nameOfRole, percent, type Rule } from "./finding";

/** Thresholds: wake-ups of each thread a second, share of them by timers, and CPU time after each. */
const WAKES_PER_S = 200;
const TIMERS = 0.9;
const LITTLE_S = 25e-6;
/** Minimum share of the time in sleeps, polls, and waits at futexes. */
const ASLEEP = 0.5;
/** Maximum number of wake-ups given, and of bytes and calls, for each wake-up got. */
const DONE = 0.05;

export const POLLING_RULE: Rule = {
  subject: "wake-ups that find nothing",
  ledger: true,
  find: ({ roles, wakes, seconds, go }, ease) =>
    roles.flatMap((times) => {
      const { key, cpu, wall, queue, moved } = times;
      const id = `polling:${key}`;
      const node = wakes.nodes.find((each) => each.key === key);
      const timers = wakes.edges.find(({ from, to }) => from === "interrupt:" && to === key);
      // Go has a thread that looks after its scheduler.
      if (go || !node || !timers) return [];
      const often = timers.per_s * seconds >= ease(id) * WAKES_PER_S * wall;
      if (!often || timers.per_s < TIMERS * node.gets_per_s) return [];
      const woken = node.gets_per_s * seconds;
      const little = (cpu / woken) * ease(id) <= LITTLE_S;
      const asleep = inStates(times, "sleep", "poll", "futex") >= ASLEEP * wall;
      // Whoever moves bytes or wakes somebody has found something.
      const done = node.gives_per_s * seconds + moved;
      if (!little || !asleep || done * ease(id) > DONE * woken) return [];
      return [
        {
          id,
          text:
            `${nameOfRole(times)} wakes up ${counted(Math.round(timers.per_s), "time")} a second by timers, runs ${formatValue(cpu / woken, "s")} each time, ` +
            "and finds nothing: it calls no socket, moves no bytes of disks, and wakes nobody.",
          numbers: [
            measured(node.gets_per_s, "1/s", "wake-ups a second"),
            measured(cpu / woken, "s", "on a CPU after each"),
            measured(node.gives_per_s + moved / seconds, "1/s", "bytes, calls and wake-ups by it"),
          ],
          evidence:
            `Over ${formatDuration(seconds)}. ` +
            `Threshold: ${WAKES_PER_S} a second and thread, ${percent(TIMERS)} by timers, ${formatValue(LITTLE_S, "s")} each.`,
          advice:
            "Wait for the event itself (a condition, eventfd, epoll), or look less often. What it does in memory alone, such as a clock, does not show.",
          confidence: "likely" as const,
          link: { panel: "wakes" as const, key },
          weight: (cpu + queue) / seconds,
        },
      ];
    }),
};
