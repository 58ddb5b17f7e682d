/** What keeps threads from a CPU that could run. */

import { counted, formatDuration, formatValue } from "../format";
import { percent, type Rule } from "./finding";

const THROTTLED = 0.05;
const PERIODS = 20;
/** Thread-seconds a second of waiting behind one other process, and its share of all such waiting. */
const DELAY = 0.1;
const DELAY_SHARE = 0.3;

export const THROTTLING_RULE: Rule = {
  subject: "the CPU limit of the control group",
  ledger: false,
  find: ({ cgroup }, ease) => {
    if (!cgroup || cgroup.limit === null || cgroup.periods < PERIODS) return [];
    const share = cgroup.throttled / cgroup.periods;
    if (!(share >= ease("throttling") * THROTTLED)) return [];
    const { gomaxprocs, limit } = cgroup;
    const above = gomaxprocs !== null && gomaxprocs > limit;
    const limitText = `CPU limit ${formatValue(limit, "cores")}`;
    return [
      {
        id: "throttling",
        text:
          `${above ? `GOMAXPROCS ${gomaxprocs}, ` : ""}${limitText}: ` +
          `throttled in ${formatValue(share, "share")} of periods.`,
        evidence:
          `${counted(cgroup.throttled, "period")} of ${cgroup.periods} throttled, ` +
          `${formatValue(cgroup.throttled_share, "s")} a second in all. ` +
          `Threshold: ${percent(THROTTLED)} of at least ${PERIODS} periods.`,
        link: { panel: "takers" },
        weight: cgroup.throttled_share,
      },
    ];
  },
};

export const TAKEN_CPU_RULE: Rule = {
  subject: "run-queue delay by other processes",
  ledger: true,
  find: ({ takers, seconds }, ease) =>
    takers.rows.flatMap(({ key, kind, name, delay, share, threads }) => {
      const id = `taker:${key}`;
      if (kind !== "process" && kind !== "kernel") return [];
      if (delay < ease(id) * DELAY || share < ease(id) * DELAY_SHARE) return [];
      const what = kind === "process" ? `Process ${name}` : `Kernel thread ${name}`;
      return [
        {
          id,
          text:
            `${what} ran while ${counted(threads, "thread")} of this process could have run: ` +
            `${formatValue(delay, "s")} a second, ${formatValue(share, "share")} of its run-queue delay.`,
          evidence: `Over ${formatDuration(seconds)}. Threshold: ${DELAY} s a second and ${percent(DELAY_SHARE)} of the delay.`,
          link: { panel: "takers" },
          weight: delay,
        },
      ];
    }),
};
