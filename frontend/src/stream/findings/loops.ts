/** Single threads that hold others up: event loops that compute, and threads that always run. */

import { counted, formatDuration, formatValue } from "../format";
import {
  type EventLoop,
  type Finding,
  inStates,
  measured,
  percent,
  type Rule,
  type ThreadTimes,
  withProcess,
} from "./finding";

/** Thresholds: CPU time between two polls, or share of the time in stretches of 30 ms and more. */
const LOOP_S = 0.004;
const LOOP_SHARE = 0.08;
const LOOP_CPU = 0.1;
/** Minimum polls a second, and share of the time in polls, of an event loop. */
const LOOP_POLLS_PER_S = 1;
const LOOP_POLLING = 0.05;
/** A loop that calls sockets so often in a second on a CPU is busy with them, not blocked. */
const LOOP_CALLS_PER_S = 2000;
/** CPU time between two polls, beside long stretches, of a loop that answers at once. */
const LOOP_BRIEF_S = 0.5e-3;

/** Minimum number of stalls that are no chance, and their share of the time: their length is estimated. */
const STALLS = 3;
const STALL_SHARE = 0.15;
/** Their mean length: in one sample of 0.1 s a loop may serve few by chance. */
const STALL_S = 0.15;

export const EVENT_LOOP_RULE: Rule = {
  subject: "event loops",
  ledger: true,
  find: ({ loops, seconds, go }, ease) =>
    loops.flatMap((loop) => {
      const { thread, polls, calls } = loop;
      // Any thread of Go polls, and others go on with what comes.
      if (go) return [];
      const { key, cpu, queue, wall } = thread;
      const id = `loop:${key}`;
      if (polls / seconds < LOOP_POLLS_PER_S || wall < 0.5 * seconds) return [];
      if (cpu + queue < ease(id) * LOOP_CPU * wall) return [];
      const found = betweenPolls(loop, ease(id)) ?? stalled(loop, ease(id));
      if (!found) return [];
      const name = withProcess(`${thread.name} (${thread.tid})`, thread.process);
      return [
        {
          id,
          text: `The event loop of ${name} is blocked by computing: ${found.text}, in which it answers nobody.`,
          numbers: [
            measured(polls / seconds, "1/s", "polls a second"),
            measured(calls / seconds, "1/s", "socket calls a second"),
            measured(cpu / polls, "s", "on a CPU between two polls"),
          ],
          evidence: `Over ${formatDuration(seconds)}. Threshold: ${found.threshold}.`,
          advice: "Move the long computation into a thread or process, or divide it.",
          confidence: found.confidence,
          link: { panel: "times" as const, key },
          weight: found.seconds / seconds,
        },
      ];
    }),
};

interface Blocked {
  readonly text: string;
  readonly threshold: string;
  readonly confidence: Finding["confidence"];
  readonly seconds: number;
}

/** A loop that computes for long between two polls; null if it does not. */
function betweenPolls({ thread, polls, calls, long, long_s }: EventLoop, ease: number) {
  const { cpu, wall } = thread;
  if (inStates(thread, "poll") < LOOP_POLLING * wall || cpu < ease * LOOP_CPU * wall) return null;
  // A busy loop polls now and then; one that mostly does so at once and seldom not is held up.
  if (calls >= LOOP_CALLS_PER_S * cpu && (cpu - long_s) / polls > LOOP_BRIEF_S) return null;
  // A busy CPU cuts long stretches into pieces: then the mean between two polls tells.
  const between_s = cpu / polls;
  if (long_s < ease * LOOP_SHARE * wall && between_s < ease * LOOP_S) return null;
  const most = Math.max(between_s, long > 0 ? long_s / long : 0);
  return {
    text: `${formatValue(most, "s")} and longer at a time, ${formatValue(cpu / wall, "share")} of all time`,
    threshold: `${formatValue(LOOP_S, "s")}, or ${percent(LOOP_SHARE)} of its time in stretches of 30 ms and longer`,
    confidence: "measured",
    seconds: cpu,
  } satisfies Blocked;
}

/** A busy loop that serves nobody now and then, and computes meanwhile; null if it always serves. */
function stalled({ thread, stalls, stalled_s, serves_per_s }: EventLoop, ease: number) {
  const { cpu, queue, wall } = thread;
  if (serves_per_s < LOOP_CALLS_PER_S || stalls < ease * STALLS) return null;
  if (stalled_s < ease * STALL_S * stalls) return null;
  // Beside other programs it takes longer than its CPU time.
  const seconds = (stalled_s * (cpu + queue)) / cpu;
  if (seconds < ease * STALL_SHARE * wall) return null;
  return {
    text: `${formatValue(stalled_s / stalls, "s")} on a CPU at a time, ${formatValue(seconds / wall, "share")} of all time`,
    threshold: `${percent(STALL_SHARE)} of its time with 40 % of the waits and socket calls that are typical for its CPU time, or fewer`,
    confidence: "likely",
    seconds,
  } satisfies Blocked;
}

/**
 * Thresholds: threads waiting for a saturated thread, and their waiting in thread-seconds per
 * second.
 */
const HELD_UP = 2;
const HELD_UP_WAIT = 0.5;
/** Share of time on a CPU, or waiting for one, above which a thread counts as saturated. */
export const SATURATED = 0.9;

export const SATURATED_RULE: Rule = {
  subject: "threads that run all the time while others wait for them",
  ledger: true,
  find: ({ saturated, seconds }, ease) =>
    saturated.flatMap(({ thread, wakees }) => {
      const id = `saturated:${thread.key}`;
      const threads = wakees.filter(({ tid }) => tid !== null && tid !== thread.tid);
      const wait = threads.reduce((sum, { blocked }) => sum + blocked, 0);
      if (threads.length < HELD_UP || wait < ease(id) * HELD_UP_WAIT) return [];
      return [
        {
          id,
          text:
            `${withProcess(`${thread.name} (${thread.tid})`, thread.process)} ${runsText(thread)} of ` +
            `the time, and ${counted(threads.length, "thread")} wait for it.`,
          numbers: [
            measured(thread.cpu / thread.wall, "share", "of the time on a CPU"),
            measured(threads.length, "count", "threads wait for it"),
            measured(wait, "threads", "of those at a time, on average"),
          ],
          evidence: `Over ${formatDuration(seconds)}. Threshold: ${percent(SATURATED)} of the time, ${HELD_UP_WAIT} s of waiting a second.`,
          advice: "Divide its work among threads, or do less of it for each of them.",
          confidence: "likely" as const,
          link: { panel: "wakes" as const, key: `role:${thread.role}` as const },
          weight: wait,
        },
      ];
    }),
};

/** Clause for a thread that runs whenever it gets a CPU, with its share of the time. */
function runsText({ cpu, queue, wall }: ThreadTimes): string {
  return cpu >= SATURATED * wall
    ? `runs ${formatValue(cpu / wall, "share")}`
    : `runs ${formatValue(cpu / wall, "share")} and waits for a CPU ${formatValue(queue / wall, "share")}`;
}
