/**
 * Sharing of work among threads: tiny tasks, constantly idle threads, or threads held up by one.
 */

import { counted, formatDuration, formatValue } from "../format";
import { percent, type Rule, withProcess } from "./finding";

/**
 * Thresholds: wake-ups per second by one role, its share of a role's wake-ups, and work after each.
 */
const WAKES_PER_S = 200;
const WAKES_SHARE = 0.5;
const LITTLE_S = 20e-6;
/** Thresholds: share of non-idle time, and thread-seconds per second. */
const DISK_SHARE = 0.3;
const DISK = 0.05;
const POOL = 8;
const IDLE_SHARE = 0.97;
/**
 * Thresholds: threads waiting for a saturated thread, and their waiting in thread-seconds per
 * second.
 */
const HELD_UP = 2;
const HELD_UP_WAIT = 1;
/** Share of time above which a thread counts as saturated. */
export const SATURATED = 0.9;

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
          evidence:
            `On-CPU time of ${wakee.name} divided by all its wake-ups, over ${formatDuration(seconds)}. ` +
            `Threshold: ${WAKES_PER_S} a second for ${formatValue(LITTLE_S, "s")} each.`,
          link: { panel: "wakes", key: from },
          weight: times.cpu / seconds,
        },
      ];
    }),
};

export const DISK_RULE: Rule = {
  subject: "disk waits",
  ledger: false,
  find: ({ roles, seconds }, ease) =>
    roles.flatMap((times) => {
      const { key, role, process, disk, wall, idle, threads } = times;
      const id = `disk:${key}`;
      // Idle time is not work; without a ledger it is unknown.
      const active = wall - (Number.isNaN(idle) ? 0 : idle);
      const share = disk / active;
      if (!(share >= ease(id) * DISK_SHARE && disk / seconds >= ease(id) * DISK)) return [];
      const of = Number.isNaN(idle) ? "of its time" : "of the time in which it is not idle";
      return [
        {
          id,
          text: `${withProcess(role, process)} waits for the disk ${formatValue(share, "share")} ${of}.`,
          evidence:
            `${formatValue(disk, "s")} of ${formatValue(active, "s")} of ${counted(threads, "thread")} ` +
            `over ${formatDuration(seconds)}. Threshold: ${percent(DISK_SHARE)}.`,
          link: { panel: "times", key },
          weight: disk / seconds,
        },
      ];
    }),
};

export const IDLE_POOL_RULE: Rule = {
  subject: "idle pools",
  ledger: true,
  find: ({ roles, seconds }, ease) =>
    roles.flatMap((times) => {
      const { key, role, process, threads, idle, wall, cpu } = times;
      const id = `idle:${key}`;
      // A short-lived thread is no pool member.
      const mean = wall / seconds;
      if (mean < ease(id) * POOL || !(1 - idle / wall <= (1 - IDLE_SHARE) / ease(id))) return [];
      return [
        {
          id,
          text:
            `${counted(threads, "thread")} of ${withProcess(role, process)} were idle ${formatValue(idle / wall, "share")} ` +
            `of the time; together they used ${formatValue(cpu / seconds, "cores")}.`,
          evidence:
            "Idle: polling, sleeping, parked, or waiting for work at a condition, over " +
            `${formatDuration(seconds)}. Threshold: ${POOL} threads, ${percent(IDLE_SHARE)} of the time.`,
          link: { panel: "times", key },
          weight: 0.01 * threads,
        },
      ];
    }),
};

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
            `${withProcess(`${thread.name} (${thread.tid})`, thread.process)} runs ${formatValue(thread.cpu / thread.wall, "share")} of ` +
            `the time, and ${counted(threads.length, "thread")} wait for it.`,
          evidence:
            `Its wake-ups ended ${formatValue(wait, "s")} of waiting a second, over ` +
            `${formatDuration(seconds)}. Threshold: ${percent(SATURATED)} of the time, ${HELD_UP_WAIT} s of waiting a second.`,
          link: { panel: "wakes", key: `role:${thread.role}` },
          weight: wait,
        },
      ];
    }),
};
