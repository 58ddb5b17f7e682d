/** Waiting for a CPU: behind a limit, other programs, or the process itself. */

import { SHORT_LIVED_KEY } from "../facts/parties";
import { nameAndPlace } from "../facts/places";
import { counted, formatDuration, formatNumber, formatValue } from "../format";
import {
  type Evidence,
  type Finding,
  inStates,
  measured,
  nameOfRole,
  percent,
  type Rule,
} from "./finding";

const THROTTLED = 0.05;
const PERIODS = 20;
/**
 * Minimum waiting behind one other process: in thread-seconds per second, and as a share of all such
 * waiting, which is itself a share of the time in which threads could have run.
 */
const DELAY = 0.2;
const DELAY_SHARE = 0.2;
const OF_RUNNABLE = 0.25;
/** Mean delay of a thread that becomes runnable: less is the hand-over of a CPU, in seconds. */
const DELAY_S = 0.5e-3;

function isThrottled(cgroup: Evidence["cgroup"], ease = 1): boolean {
  if (!cgroup || cgroup.limit === null || cgroup.periods < PERIODS) return false;
  return cgroup.throttled / cgroup.periods >= ease * THROTTLED;
}

export const THROTTLING_RULE: Rule = {
  subject: "the CPU limit of the control group",
  ledger: false,
  find: ({ cgroup, roles, seconds }, ease) => {
    if (!cgroup || cgroup.limit === null || !isThrottled(cgroup, ease("throttling"))) return [];
    const share = cgroup.throttled / cgroup.periods;
    const { gomaxprocs, limit } = cgroup;
    const above = gomaxprocs !== null && gomaxprocs > limit;
    const limitText = `CPU limit ${formatValue(limit, "cores")}`;
    // Without a state for it, the throttled time of the group's CPUs stands for that of threads.
    const held = roles.reduce((sum, times) => sum + inStates(times, "throttled"), 0) / seconds;
    const throttled = held > 0 ? held : cgroup.throttled_share;
    return [
      {
        id: "throttling",
        text:
          `${above ? `GOMAXPROCS ${gomaxprocs}, ` : ""}${limitText}: ` +
          `throttled in ${formatValue(share, "share")} of periods.`,
        numbers: [
          measured(share, "share", "of the periods throttled"),
          measured(throttled, held > 0 ? "threads" : "cores", "throttled on average"),
          measured(limit, "cores", "is the limit"),
        ],
        evidence:
          `${counted(cgroup.throttled, "period")} of ${cgroup.periods} throttled. ` +
          `Threshold: ${percent(THROTTLED)} of at least ${PERIODS} periods.`,
        advice: above
          ? "Set GOMAXPROCS to the limit, or raise the limit."
          : "Raise the limit, or have fewer threads run at the same time.",
        confidence: "measured",
        link: { panel: "waiting", lock: null },
        weight: throttled,
      },
    ];
  },
};

export const TAKEN_CPU_RULE: Rule = {
  subject: "run-queue delay by other processes",
  ledger: true,
  find: ({ takers, cgroup, roles, wakes, seconds }, ease) => {
    // While a CPU limit throttles threads, other processes are not what delays them.
    if (isThrottled(cgroup)) return [];
    const wakeups = wakes.nodes.reduce((sum, { gets_per_s }) => sum + gets_per_s, 0);
    if (takers.delay < DELAY_S * wakeups) return [];
    const runnable = roles.reduce((sum, { cpu, queue }) => sum + cpu + queue, 0) / seconds;
    return takers.rows.flatMap((row) => {
      const { key, kind, delay, share, threads } = row;
      const id = `taker:${key}`;
      if (kind !== "process" && kind !== "kernel") return [];
      if (delay < ease(id) * DELAY || share < ease(id) * DELAY_SHARE) return [];
      if (takers.delay < ease(id) * OF_RUNNABLE * runnable) return [];
      const name = nameAndPlace(row);
      const what =
        key === SHORT_LIVED_KEY
          ? "Short-lived processes"
          : kind === "process"
            ? `Process ${name}`
            : `Kernel thread ${name}`;
      return [
        {
          id,
          text:
            `${what} ran while ${counted(threads, "thread")} of this process could have run: ` +
            `${formatValue(delay, "threads")} on average, ${formatValue(share, "share")} of its run-queue delay.`,
          numbers: [
            measured(delay, "threads", "wait behind it on average"),
            measured(share, "share", "of the run-queue delay"),
            measured(takers.delay, "threads", "wait for a CPU in all"),
          ],
          evidence: `Over ${formatDuration(seconds)}. Threshold: ${DELAY} threads and ${percent(DELAY_SHARE)} of the delay.`,
          advice: "Move it to other CPUs, lower its priority, or run it at another time.",
          confidence: "measured" as const,
          link: { panel: "waiting" as const, lock: null },
          weight: delay,
        },
      ];
    });
  },
};

/** Thresholds of threads of one role that become runnable together. */
const HERD = 16;
const HERD_DELAY_S = 0.5e-3;
const HERD_RATE = 0.5;
const HERD_SLEEP = 0.7;
/** Minimum share of the run-queue delay behind threads of this process. */
const OWN_SHARE = 0.5;

/** Share of the run-queue delay behind threads of the process itself. */
function ownShare({ takers }: Evidence): number {
  return takers.rows.reduce((sum, { kind, share }) => sum + (kind === "own" ? share : 0), 0);
}

type Ease = Parameters<Rule["find"]>[1];

/** Threads of a role that wake up together wait behind each other: that is the cause to name. */
export const OWN_DELAY_RULE: Rule = {
  subject: "run-queue delay by the process itself, timers that fire together",
  ledger: true,
  find: (evidence, ease) => {
    const share = ownShare(evidence);
    if (share < OWN_SHARE || isThrottled(evidence.cgroup)) return [];
    const herds = herdsOf(evidence, ease);
    return herds.length > 0 ? herds : crowdedOf(evidence, share, ease);
  },
};

function herdsOf({ roles, wakes, seconds }: Evidence, ease: Ease): readonly Finding[] {
  return roles.flatMap((times) => {
    const { key, wall } = times;
    const id = `herd:${key}`;
    const threads = wall / seconds;
    const edge = wakes.edges.find(({ from, to }) => from === "interrupt:" && to === key);
    if (!edge || threads < ease(id) * HERD) return [];
    const rate = edge.per_s / threads;
    const asleep = inStates(times, "sleep") / wall;
    const late = edge.delay_s >= ease(id) * HERD_DELAY_S && times.queue >= ease(id) * times.cpu;
    if (!late || rate < ease(id) * HERD_RATE || asleep < HERD_SLEEP) return [];
    return [
      {
        id,
        text:
          `${counted(Math.round(threads), "thread")} of ${nameOfRole(times)} wake up at the same time, ` +
          `${formatNumber(rate, "1/s")} times a second, and then wait ${formatValue(edge.delay_s, "s")} for a CPU behind each other.`,
        numbers: [
          measured(edge.delay_s, "s", "wait for a CPU each time"),
          measured(asleep, "share", "of their time asleep"),
          measured(times.cpu / seconds, "cores", "used by them"),
        ],
        evidence: `Over ${formatDuration(seconds)}. Threshold: ${HERD} threads, ${formatValue(HERD_DELAY_S, "s")} each time, and longer in run queues than on CPUs.`,
        advice: "Spread their timers over the period, or let one thread do what is due.",
        confidence: "likely" as const,
        link: { panel: "times" as const, key },
        weight: times.queue / seconds,
      },
    ];
  });
}

/** Thresholds: share of a role's active time in run queues behind the process' own threads. */
const CROWDED_SHARE = 0.4;
const CROWDED = 1;

function crowdedOf(
  { roles, seconds, wakes }: Evidence,
  share: number,
  ease: Ease,
): readonly Finding[] {
  const waiting = roles.filter(({ key, queue, cpu }) => {
    const eased = ease(`crowded:${key}`);
    return queue >= eased * CROWDED_SHARE * (queue + cpu) && queue / seconds >= eased * CROWDED;
  });
  const [first] = waiting.toSorted((a, b) => b.queue - a.queue);
  if (!first) return [];
  const busiest = [...roles].sort((a, b) => b.cpu - a.cpu)[0] ?? first;
  const all = roles.reduce((sum, { cpu, queue }) => sum + cpu + queue, 0) / seconds;
  const gets = wakes.nodes.find(({ key }) => key === first.key)?.gets_per_s ?? 0;
  return [
    {
      id: `crowded:${first.key}`,
      text:
        `${nameOfRole(first)} waits for a CPU ${formatValue(first.queue / (first.queue + first.cpu), "share")} of the time in which it could run, ` +
        `behind threads of this process: most CPU time went to ${nameOfRole(busiest)} (${formatValue(busiest.cpu / seconds, "cores")}).`,
      numbers: [
        measured(first.queue / seconds, "threads", "of it wait for a CPU"),
        measured(all, "threads", "run or could run, of all"),
        measured(share, "share", "of the delay behind this process"),
      ],
      evidence: `${formatNumber(gets, "1/s")} wake-ups a second, over ${formatDuration(seconds)}. Threshold: ${percent(CROWDED_SHARE)}, and ${CROWDED} thread on average.`,
      advice:
        busiest.key === first.key
          ? "Have fewer threads compute at the same time, or give the program more CPUs."
          : `See whether ${busiest.role} has a higher priority or shares a CPU with ${first.role} by affinity.`,
      confidence: "measured" as const,
      link: { panel: "waiting" as const, lock: null },
      weight: first.queue / seconds,
    },
  ];
}
