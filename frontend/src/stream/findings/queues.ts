/** Queues that the kernel keeps: connections that nobody accepts, and locks of files. */

import { formatDuration, formatNumber, formatValue } from "../format";
import { measured, percent, type Rule } from "./finding";

/** Thresholds: connections that wait on average, and share of the time in which one does. */
const WAITING = 1;
const SOME = 0.8;

export const ACCEPT_RULE: Rule = {
  subject: "connections that wait to be accepted",
  ledger: false,
  find: ({ queues, seconds }, ease) =>
    queues.accepting.flatMap(({ socket, address, waiting, some, by }) => {
      const id = `accept:${socket}`;
      if (waiting < ease(id) * WAITING || some < ease(id) * SOME) return [];
      const busy = 1 - by.accepting;
      return [
        {
          id,
          text:
            `${formatNumber(waiting, "count")} connections on average wait to be accepted at ${address}: ` +
            `${by.name} that should accept them ${doing(busy, by)}.`,
          numbers: [
            measured(some, "share", "of the time somebody waits"),
            measured(
              by.threads,
              "count",
              by.threads < 1.5 ? "thread serves there" : "threads serve there",
            ),
            measured(by.running, "share", "of their time on a CPU or waiting for one"),
          ],
          evidence:
            `Over ${formatDuration(seconds)}. ` +
            `Threshold: ${WAITING} connection, ${percent(SOME)} of the time.`,
          advice:
            by.running >= 0.5
              ? "Let them do less for each connection, or give the program more CPUs."
              : "See what they wait for; more of them, or an event loop, take more connections at a time.",
          confidence: "measured" as const,
          link: { panel: "times" as const, key: by.key },
          weight: waiting,
        },
      ];
    }),
};

function doing(busy: number, by: { readonly sleeping: number; readonly running: number }): string {
  const rest = formatValue(busy, "share");
  const what =
    by.running >= 0.5 ? ", mostly running" : by.sleeping >= 0.5 ? ", mostly asleep in a call" : "";
  return `have something else to do ${rest} of the time${what}`;
}

/** Thresholds: holders in turn, each with a tenth of the time, and share of the time that a lock is held. */
const HOLDERS = 3;
const HELD_EACH = 0.03;
const HELD = 0.8;
/** Minimum share of the time that holders sleep: they look for the lock by timers. */
const ASLEEP = 0.4;
/** Processes that wait in the kernel, on average. */
const QUEUED = 1;

export const FILE_LOCK_RULE: Rule = {
  subject: "locks of files",
  ledger: false,
  whole: true,
  find: ({ queues, seconds }, ease) =>
    queues.files.flatMap(({ file, path, lockers, by }) => {
      const id = `file:${file}`;
      const turns = lockers.filter(({ held, waiting }) => held + waiting >= HELD_EACH);
      const held = lockers.reduce((sum, each) => sum + each.held, 0);
      const queued = lockers.reduce((sum, each) => sum + each.waiting, 0);
      const waits = queued >= ease(id) * QUEUED && turns.length > 1;
      const polls =
        turns.length >= HOLDERS && held >= ease(id) * HELD && by.sleeping >= ease(id) * ASLEEP;
      if (!waits && !polls) return [];
      const name = path === "" ? `a file (number ${file})` : `the file ${path}`;
      const others = waits
        ? `${formatNumber(queued, "count")} wait for it on average`
        : "the others sleep meanwhile, and look for it by timers";
      return [
        {
          id,
          text:
            `${by.name} hold the lock of ${name} one at a time, together ${formatValue(Math.min(1, held), "share")} of the time: ` +
            `${others}.`,
          numbers: [
            measured(turns.length, "count", "processes held it or waited"),
            measured(queued, "count", "wait in the kernel on average"),
            measured(by.sleeping, "share", "of their time asleep"),
          ],
          evidence:
            `Over ${formatDuration(seconds)}. ` +
            `Threshold: ${QUEUED} that waits, or ${HOLDERS} holders and ${percent(HELD)} of the time.`,
          advice: "Hold it for less time, do more at a time with it, or divide the file.",
          confidence: waits ? ("measured" as const) : ("likely" as const),
          link: { panel: "times" as const, key: by.key },
          weight: waits ? queued : turns.length * by.sleeping,
        },
      ];
    }),
};
