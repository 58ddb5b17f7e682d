/** Sharing of work among threads: tiny tasks, threads woken for nothing, idle and full pools. */

import { counted, formatDuration, formatNumber, formatValue } from "../format";
import {
  idleAtFutexes,
  inStates,
  mainActivity,
  measured,
  nameOfRole,
  percent,
  type Rule,
} from "./finding";

/**
 * Thresholds: wake-ups per second by one role, its share of a role's wake-ups, and work after each.
 */
const WAKES_PER_S = 200;
const WAKES_SHARE = 0.5;
const LITTLE_S = 20e-6;
const POOL = 8;
const IDLE_SHARE = 0.97;
/** Share of idle time at locks of kind park from which it may be waiting for a lock as well. */
const PARKED_SHARE = 0.2;
/** Wake-ups a second that make a role one that is given work. */
const FED_PER_S = 1;
export const LITTLE_WORK_RULE: Rule = {
  subject: "wake-ups for little work",
  ledger: true,
  find: ({ wakes, roles, seconds }, ease) =>
    wakes.edges.flatMap(({ key, from, to, per_s }) => {
      const waker = wakes.nodes.find((node) => node.key === from);
      const wakee = wakes.nodes.find((node) => node.key === to);
      const times = roles.find((role) => role.key === to);
      if (waker?.kind !== "role" || !wakee || !times || from === to) return [];
      const id = `little:${key}`;
      const work_s = times.cpu / seconds / wakee.gets_per_s;
      const often = per_s >= ease(id) * WAKES_PER_S;
      const most = per_s >= ease(id) * WAKES_SHARE * wakee.gets_per_s;
      if (!often || !most || !(work_s * ease(id) <= LITTLE_S)) return [];
      return [
        {
          id,
          text: `${waker.name} wakes ${wakee.name} ${counted(Math.round(per_s), "time")} a second for ${formatValue(work_s, "s")} of work each.`,
          numbers: [
            measured(per_s, "1/s", "wake-ups a second"),
            measured(work_s, "s", "on a CPU after each"),
            measured(times.cpu / seconds, "cores", `used by ${wakee.name}`),
          ],
          evidence:
            `On-CPU time of ${wakee.name} divided by all its wake-ups, over ${formatDuration(seconds)}. ` +
            `Threshold: ${WAKES_PER_S} a second for ${formatValue(LITTLE_S, "s")} each.`,
          advice: "Hand over several pieces of work at a time.",
          confidence: "measured" as const,
          link: { panel: "wakes" as const, key: from },
          weight: times.cpu / seconds,
        },
      ];
    }),
};

/** Thresholds of threads that are woken together: their number, wake-ups for each run of the waker. */
const TOGETHER = 4;
const TOGETHER_EACH = 3;
/** Wake-ups of a thread for each run of the waker, above which it gets several pieces of work. */
const TOGETHER_BATCH = 1.5;
/** Share of their wake-ups after which they run for 33 µs or longer. */
const TOGETHER_WORK = 0.3;

export const TOGETHER_RULE: Rule = {
  subject: "threads woken together for nothing",
  ledger: true,
  find: ({ wakes, roles, seconds, go }, ease) =>
    wakes.edges.flatMap(({ key, from, to, per_s }) => {
      const waker = roles.find((role) => role.key === from);
      const times = roles.find((role) => role.key === to);
      // Go wakes its threads to look for work.
      if (go || !waker || !times || from === to) return [];
      const id = `together:${key}`;
      const threads = times.wall / seconds;
      const each = (per_s * seconds) / waker.runs;
      const many = threads >= ease(id) * TOGETHER && each >= ease(id) * TOGETHER_EACH;
      if (!many || each > TOGETHER_BATCH * threads || per_s < ease(id) * WAKES_PER_S) return [];
      const working = (times.runs - times.short_runs) / (per_s * seconds);
      if (times.runs === 0 || working * ease(id) > TOGETHER_WORK) return [];
      const [whom, who] = [times, waker].map(nameOfRole);
      return [
        {
          id,
          text:
            `${counted(Math.round(threads), "thread")} of ${whom} are woken together by ${who}, ${formatNumber(per_s / threads, "1/s")} times a second each, ` +
            `and ${percent(1 - working)} of the time wait again after less than 33 µs on a CPU: mostly for nothing.`,
          numbers: [
            measured(per_s, "1/s", "wake-ups a second"),
            measured(each, "count", `wake-ups each time that ${who} runs`),
            measured(1 - working, "share", "of them for nothing"),
          ],
          evidence:
            `Over ${formatDuration(seconds)}. ` +
            `Threshold: ${TOGETHER_EACH} of ${TOGETHER} threads, at most ${percent(TOGETHER_WORK)} of them for longer.`,
          advice:
            "Wake one thread for one piece of work (signal, not broadcast), or let few threads wait.",
          confidence: "likely" as const,
          link: { panel: "wakes" as const, key: to },
          weight: (times.cpu + times.queue) / seconds,
        },
      ];
    }),
};

export const IDLE_POOL_RULE: Rule = {
  subject: "idle pools",
  ledger: true,
  whole: true,
  find: ({ roles, wakes, seconds, go }, ease) =>
    roles.flatMap((times) => {
      const { key, threads, idle, wall, cpu, parked, unnamed } = times;
      const id = `idle:${key}`;
      // Threads without a name may be of several pools, each of which is small.
      if (unnamed) return [];
      // A short-lived thread is no pool member.
      const mean = wall / seconds;
      if (mean < ease(id) * POOL || !(1 - idle / wall <= (1 - IDLE_SHARE) / ease(id))) return [];
      // Whoever parks without being Go's may be waiting for a lock.
      if (!go && parked > PARKED_SHARE * idle) return [];
      // Threads that sleep or poll are no pool: nobody gives them work.
      const fed = wakes.nodes.find((node) => node.key === key)?.gets_per_s ?? 0;
      if (inStates(times, "futex") < 0.5 * wall || fed < FED_PER_S) return [];
      return [
        {
          id,
          text:
            `${counted(threads, "thread")} of ${nameOfRole(times)} were idle ${formatValue(idle / wall, "share")} ` +
            `of the time; together they used ${formatValue(cpu / seconds, "cores")}.`,
          numbers: [
            measured(idle / wall, "share", "of the time idle"),
            measured(cpu / seconds, "cores", "used together"),
            measured(fed, "1/s", "wake-ups a second"),
          ],
          evidence:
            "Idle: polling, sleeping, parked, or waiting for work at a condition, over " +
            `${formatDuration(seconds)}. Threshold: ${POOL} threads, ${percent(IDLE_SHARE)} of the time.`,
          advice: "Fewer threads would do.",
          confidence: "measured" as const,
          link: { panel: "times" as const, key },
          weight: 0.01 * threads,
        },
      ];
    }),
};

/** Roles of threads that runtimes and servers call so by default, and that take work from a queue. */
const POOLS =
  /^(?:pool-#-thread|ForkJoinPool|ThreadPoolExec|AnyIO worker|libuv-worker|XNIO-#|qtp#|grpc-default-e|default-dispat|.*-exec-#)/;
/**
 * Pools that start a thread only if all others work, up to a default number: one that has so many
 * is full even if its threads wait shortly for the loop that hands on the work.
 */
const LIMITS = [{ name: /^AnyIO worker/, threads: 40 }] as const;
const LIMITED_WAITING = 0.5;
/** Workers of asynchronous runtimes, which poll if they have no work. */
const ASYNC = /^tokio-r(?:t-worker|untime-w)/;
/** Maximum share of time of a full pool's threads that other threads end, by giving them work. */
const FULL_WAITING = 0.02;
/** Threads that work wake up so often, or compute for so much of the time. */
const FULL_WAKES_PER_S = 1;
const FULL_CPU = 0.1;

export const FULL_POOL_RULE: Rule = {
  subject: "full pools",
  ledger: true,
  find: ({ roles, wakes, seconds }, ease) =>
    roles.flatMap((times) => {
      const { key, role, wall, cpu, live } = times;
      const id = `full:${key}`;
      const polls = ASYNC.test(role);
      const pool = (polls || POOLS.test(role)) && live >= 2 && wall >= 0.9 * live * seconds;
      if (!pool) return [];
      const own = wakes.edges.filter(({ to }) => to === key);
      const woken = own.reduce((sum, { per_s }) => sum + per_s, 0);
      const given = own.reduce(
        (sum, { from, blocked }) => sum + (from.startsWith("role:") ? blocked : 0),
        0,
      );
      // Work comes to threads that wait at a futex: whoever is woken from a pipe has some.
      const polling = polls ? inStates(times, "poll") : 0;
      const waiting = Math.min(given * seconds, idleAtFutexes(times)) + polling + times.unused;
      const works =
        woken >= ease(id) * FULL_WAKES_PER_S * live || cpu >= ease(id) * FULL_CPU * wall;
      const limit = LIMITS.find(({ name, threads }) => name.test(role) && live >= threads);
      const most = limit ? LIMITED_WAITING : FULL_WAITING;
      if (!works || waiting * ease(id) > most * wall) return [];
      return [
        {
          id,
          text:
            `All ${counted(live, "thread")} of ${nameOfRole(times)} are busy` +
            `${limit ? ": the pool starts no more" : ` all the time: ${polls ? `they ${mainActivity(times)}` : "none waits for work"}`}, ` +
            "and what comes beside has to queue.",
          numbers: [
            measured(live, "count", "threads in the pool"),
            measured(cpu / wall, "share", "of their time on a CPU"),
            measured(waiting / wall, "share", "waiting for work"),
          ],
          evidence: `Over ${formatDuration(seconds)}. Threshold: ${percent(most)} of a pool that has its runtime's default name.`,
          advice: polls
            ? "Block in threads of their own (spawn_blocking), and compute for a few milliseconds at most between two awaits."
            : "See what they wait for or compute, and whether the queue before the pool grows.",
          confidence: "likely" as const,
          link: { panel: "times" as const, key },
          weight: 0.5 * live,
        },
      ];
    }),
};
