/** Threads and processes that come and go, and those of a runtime's garbage collector. */

import { counted, formatDuration, formatNumber, formatValue } from "../format";
import { inStates, measured, nameOfRole, percent, type Rule } from "./finding";

/** Names of a JVM's threads that collect garbage (HotSpot). */
const COLLECTORS =
  /^(?:GC Thread|G1 |Par(?:allel)? ?GC|ConcGC|Z(?:Worker|Director|Driver)|Shenandoah|VM Thread)/;
/** Thresholds: share of the program's CPU time, and cores. */
const COLLECTOR_SHARE = 0.2;
const COLLECTOR_CORES = 0.1;

export const COLLECTOR_RULE: Rule = {
  subject: "garbage collection of a JVM",
  ledger: false,
  find: ({ roles, seconds }, ease) => {
    const own = roles.filter(({ role }) => COLLECTORS.test(role));
    const cpu = own.reduce((sum, times) => sum + times.cpu, 0);
    const all = roles.reduce((sum, times) => sum + times.cpu, 0);
    const [first] = own.toSorted((a, b) => b.cpu - a.cpu);
    const enough =
      cpu / seconds >= ease("gc") * COLLECTOR_CORES && cpu >= ease("gc") * COLLECTOR_SHARE * all;
    if (!first || !enough) return [];
    return [
      {
        id: "gc",
        text:
          `Garbage collection takes ${formatValue(cpu / all, "share")} of the program’s CPU time, ` +
          `${formatValue(cpu / seconds, "cores")}.`,
        numbers: [
          measured(cpu / all, "share", "of the program’s CPU time"),
          measured(cpu / seconds, "cores", "used by the collector"),
          measured(first.cpu / seconds, "cores", `of them by ${first.role}`),
        ],
        evidence:
          `By the CPU time of ${counted(own.length, "role")}, ${first.role} most, over ${formatDuration(seconds)}. ` +
          `Threshold: ${percent(COLLECTOR_SHARE)} of the CPU time.`,
        advice: "Give the heap more room, or keep and allocate less.",
        confidence: "measured",
        link: { panel: "times", key: first.key },
        weight: cpu / seconds,
      },
    ];
  },
};

/** Thresholds: threads more within the window, and their share of those that were born. */
const GROWTH = 12;
const GROWTH_KEPT = 0.8;
const GROWTH_PER_S = 0.5;
/** A role that grows does so to the end: so much of its growth is in the last half. */
const GROWTH_LATE = 0.3;

export const GROWTH_RULE: Rule = {
  subject: "growing numbers of threads",
  ledger: false,
  whole: true,
  find: ({ roles, seconds }, ease) =>
    roles.flatMap((times) => {
      const { key, born, late, live, threads } = times;
      const id = `growth:${key}`;
      const more = live - (threads - born);
      const grows = more >= ease(id) * GROWTH && more / seconds >= ease(id) * GROWTH_PER_S;
      if (!grows || more < GROWTH_KEPT * born || late < GROWTH_LATE * born) return [];
      return [
        {
          id,
          text:
            `The number of threads of ${nameOfRole(times)} grows: ${formatNumber(more, "count")} more in ${formatDuration(seconds)}, ` +
            `now ${formatNumber(live, "count")}, and hardly one ends.`,
          numbers: [
            measured(more, "count", "threads more than at the window’s begin"),
            measured(live, "count", "threads at its end"),
            measured(late, "count", "threads began in its last half"),
          ],
          evidence:
            `${counted(born, "thread")} began. ` +
            `Threshold: ${GROWTH} more, ${formatNumber(GROWTH_PER_S, "1/s")} a second, ${percent(GROWTH_KEPT)} of them kept.`,
          advice:
            "See what these threads wait for, and who should end them; a pool would bound them.",
          confidence: "measured" as const,
          link: { panel: "times" as const, key },
          weight: more / seconds,
        },
      ];
    }),
};

/** Thresholds of short lives: so many a second, and so long on average. */
const STORM_PER_S = 20;
const STORM_LIFE_S = 0.1;

export const STORM_RULE: Rule = {
  subject: "short-lived threads and processes",
  ledger: false,
  // Threads that ended some time ago are forgotten: an earlier part seems to have none.
  whole: true,
  find: ({ roles, seconds, ends_s, grouped }, ease) =>
    roles.flatMap((times) => {
      const { key, role, short, short_s, cpu } = times;
      const id = `storm:${key}`;
      const life_s = short_s / short;
      const many = ends_s > 0 && short / ends_s >= ease(id) * STORM_PER_S;
      if (!many || !(life_s * ease(id) <= STORM_LIFE_S)) return [];
      const starters = roles.filter((other) => other !== times && inStates(other, "child") > 0);
      const [starter] = starters.toSorted((a, b) => inStates(b, "child") - inStates(a, "child"));
      const rate = formatNumber(short / ends_s, "1/s");
      const those = grouped ? "processes" : "threads";
      return [
        {
          id,
          text: starter
            ? `${starter.role} starts ${rate} ${those} a second of ${role}, which live ${formatValue(life_s, "s")} each.`
            : `${rate} ${those} a second of ${role} start and end, after ${formatValue(life_s, "s")} each.`,
          numbers: [
            measured(short / ends_s, "1/s", `${those} a second`),
            measured(life_s, "s", "is a life on average"),
            measured(cpu / ends_s, "cores", "used by them"),
          ],
          evidence:
            `${starter ? `${formatValue(inStates(starter, "child") / seconds, "threads")} of ${starter.role} waited for them on average. ` : ""}` +
            `Over ${formatDuration(seconds)}. Threshold: ${STORM_PER_S} a second, ${formatValue(STORM_LIFE_S, "s")} each.`,
          advice: "Keep workers instead of starting one for each piece of work.",
          confidence: "measured" as const,
          link: { panel: "times" as const, key },
          weight: Math.max(cpu / ends_s, starter ? inStates(starter, "child") / seconds : 0),
        },
      ];
    }),
};
