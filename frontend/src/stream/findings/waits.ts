/** Waiting for what is outside of the program: disk, network, memory. */

import { counted, formatDuration, formatNumber, formatValue } from "../format";
import type { LimitsView } from "../limits";
import { peerOf } from "../wakes";
import {
  inStates,
  measured,
  nameOfRole,
  percent,
  type QueueEvidence,
  type RoleTimes,
  type Rule,
  syncInTurns,
} from "./finding";

/** Seconds in which a role was not idle; without a ledger idle time is unknown, and counts. */
function activeOf({ wall, idle }: RoleTimes): number {
  return wall - (Number.isNaN(idle) ? 0 : idle);
}

/** Thresholds: share of non-idle time, and thread-seconds per second. */
const DISK_SHARE = 0.3;
const DISK = 0.05;
/** Share of the window in which a disk limit must be used up to be named. */
const LIMITED = 0.5;

export const DISK_RULE: Rule = {
  subject: "disk waits",
  ledger: false,
  find: ({ roles, seconds, limits, queues }, ease) =>
    roles.flatMap((times) => {
      const { key, disk, idle, threads } = times;
      const id = `disk:${key}`;
      if (lacksMemory(times, limits, seconds, ease(`memory:${key}`))) return [];
      const active = activeOf(times);
      const share = disk / active;
      if (!(share >= ease(id) * DISK_SHARE && disk / seconds >= ease(id) * DISK)) return [];
      const limit = limitOf(times, limits);
      const of = Number.isNaN(idle) ? "of its time" : "of the time in which it is not idle";
      return [
        {
          id,
          text: `${nameOfRole(times)} waits for the disk ${formatValue(share, "share")} ${of}${limit || saturatedDisk(queues)}${doing(times, seconds)}.`,
          numbers: [
            measured(share, "share", of),
            measured(disk / seconds, "threads", "wait for the disk on average"),
            measured(active / seconds, "threads", "not idle on average"),
          ],
          evidence: `${counted(threads, "thread")}, over ${formatDuration(seconds)}. Threshold: ${percent(DISK_SHARE)}.`,
          advice:
            limit === ""
              ? "Write less often and more at a time, or see what else uses the disk, and its limit."
              : "Raise the limit (io.max of the control group), or have less to do with the disk.",
          confidence: "measured" as const,
          link: { panel: "times" as const, key },
          weight: disk / seconds,
        },
      ];
    }),
};

/** Seconds of a role in reads from the disk, of files and of pages of mapped ones. */
function readsOf(times: RoleTimes): number {
  return inStates(times, "file_read_disk", "page_fault_disk");
}

/** Clause that names the disk limit at which a role waits. */
function limitOf(times: RoleTimes, { disk, reads_limited, writes_limited }: LimitsView): string {
  const reads = readsOf(times) > times.disk / 2;
  if (!disk || (reads ? reads_limited : writes_limited) < LIMITED) return "";
  const limit =
    disk.unit === "1/s"
      ? `${formatNumber(disk.limit, "1/s")} operations a second`
      : formatValue(disk.limit, disk.unit);
  return `, at the disk limit of its control group, ${limit}`;
}

/** Thresholds of a disk that is saturated: share of the time with requests, and their number. */
const BUSY = 0.95;
const REQUESTS = 2;

/** Clause that names the disk with the most requests, if one is saturated; "" otherwise. */
function saturatedDisk({ disks }: QueueEvidence): string {
  const [most] = disks
    .filter(({ busy, requests }) => busy >= BUSY && requests >= REQUESTS)
    .toSorted((a, b) => b.requests - a.requests);
  return most
    ? `, while the disk ${most.name} is busy ${formatValue(most.busy, "share")} of the time with ${formatNumber(most.requests, "count")} requests`
    : "";
}

/** Share of an interface's speed from which it is saturated. */
const FAST = 0.9;

/** Clause that names an interface that sends as fast as it can; "" otherwise. */
function saturatedInterface({ interfaces }: QueueEvidence): string {
  const most = interfaces.find(({ sent, speed }) => sent >= FAST * speed);
  return most
    ? `the interface ${most.name} sends ${formatValue(most.sent, "bytes/s")}, at its speed of ${formatValue(most.speed, "bytes/s")}`
    : "";
}

/** Clause that names a role's main kind of disk wait, for the end of a sentence. */
function doing(times: RoleTimes, seconds: number): string {
  const sync = inStates(times, "file_sync", "file_sync_disk");
  const parts = [
    [": it syncs files", sync],
    [": it writes files", inStates(times, "file_write_disk")],
    [": it reads files", inStates(times, "file_read_disk")],
    [": it reads pages of mapped files", inStates(times, "page_fault_disk")],
  ] as const;
  const [most, longest] = parts.reduce((a, b) => (b[1] > a[1] ? b : a));
  if (longest === 0) return "";
  return longest === sync && syncInTurns([times], seconds)
    ? `${most}, one thread at a time, nearly always: it may hold a lock meanwhile`
    : most;
}

/** Thresholds: how often a second a memory limit is reached, and share of non-idle time. */
const HITS = 10;
const MEMORY_SHARE = 0.2;

/** Seconds of a role at pages that were not in memory. */
function faultsOf(times: RoleTimes): number {
  return inStates(times, "page_fault", "page_fault_disk");
}

function lacksMemory(
  times: RoleTimes,
  { memory }: LimitsView,
  seconds: number,
  ease: number,
): boolean {
  if (!memory || memory.hits_per_s < ease * HITS) return false;
  const active = activeOf(times);
  const faults = faultsOf(times);
  return faults >= ease * MEMORY_SHARE * active && faults >= ease * DISK * seconds;
}

export const MEMORY_RULE: Rule = {
  subject: "the memory limit of the control group",
  ledger: true,
  find: ({ roles, limits, seconds }, ease) =>
    roles.flatMap((times) => {
      const { key, threads } = times;
      const id = `memory:${key}`;
      const { memory } = limits;
      if (!memory || !lacksMemory(times, limits, seconds, ease(id))) return [];
      const active = activeOf(times);
      const faults = faultsOf(times);
      return [
        {
          id,
          text:
            `${nameOfRole(times)} waits ${formatValue(faults / active, "share")} of the time for pages that were in memory before: ` +
            `the memory limit of its control group, ${formatValue(memory.bytes, "bytes")}, is reached ${formatNumber(memory.hits_per_s, "1/s")} times a second.`,
          numbers: [
            measured(faults / seconds, "threads", "wait for pages on average"),
            measured(memory.hits_per_s, "1/s", "times a second at the limit"),
            measured(memory.bytes, "bytes", "is the limit"),
          ],
          evidence:
            `${counted(threads, "thread")}, over ${formatDuration(seconds)}. ` +
            `Threshold: ${percent(MEMORY_SHARE)} of the time, and ${HITS} times a second.`,
          advice: "Raise the limit (memory.max of the control group), or use less memory.",
          confidence: "likely" as const,
          link: { panel: "times" as const, key },
          weight: faults / seconds,
        },
      ];
    }),
};

/** Thresholds: share of a role's time in the network, and thread-seconds per second. */
const NETWORK_SHARE = 0.5;
const NETWORK = 0.5;
/** Share of a role's waits to send that a full connection must explain. */
const EXPLAINED = 0.3;

interface SlowReaders {
  readonly name: string;
  readonly several: boolean;
  readonly full: number;
}

/** Processes that do not take what a role sends, by full connections; null if none are known. */
function slowReaders(
  { process }: RoleTimes,
  send: number,
  { sending }: QueueEvidence,
): SlowReaders | null {
  const pid = Number(/\((\d+)\)$/.exec(process)?.[1]);
  const own = sending.filter((each) => Number.isNaN(pid) || each.pid === pid);
  const full = own.reduce((sum, each) => sum + each.full, 0);
  const [most] = own;
  if (!most || full < EXPLAINED * send) return null;
  const readers = new Set(own.map(({ reader }) => reader));
  const others = readers.size > 1 ? ` and ${counted(readers.size - 1, "other")}` : "";
  return { name: `${most.reader}${others}`, several: readers.size > 1, full };
}

/** Answers a second and thread that are many: each may be a question of its own. */
const MANY = 500;
/** A wait for bytes that is long, in seconds, if it is for an answer. */
const ANSWER_S = 0.02;

export const NETWORK_RULE: Rule = {
  subject: "network waits",
  ledger: true,
  find: ({ roles, wakes, seconds, queues }, ease) =>
    roles.flatMap((times) => {
      const { key } = times;
      const id = `network:${key}`;
      // Threads without work do not make those less that have some.
      const active = activeOf(times);
      const receive = inStates(times, "socket_receive");
      const send = inStates(times, "socket_send");
      const wait = Math.max(receive, send);
      const enough =
        wait >= ease(id) * NETWORK_SHARE * active && wait / seconds >= ease(id) * NETWORK;
      if (!enough) return [];
      const peer = peerOf(wakes, key);
      const name = nameOfRole(times);
      const share = formatValue(wait / active, "share");
      const threads = active / seconds;
      const sends = wait === send;
      const each_s = wait / seconds / (peer?.per_s ?? 0);
      const many = peer !== null && peer.per_s >= ease(id) * MANY * threads;
      // A receiver's waker shows if its bytes come from one peer; a sender waits for its own peer.
      if (!sends && (!peer || (!many && each_s < ease(id) * ANSWER_S))) return [];
      const readers = sends ? slowReaders(times, send / seconds, queues) : null;
      const who = readers?.name ?? peer?.name ?? "the other side";
      const read = (readers ?? peer)?.several ? "read" : "reads";
      const text = sends
        ? `${name} waits ${share} of the time to send: ${saturatedInterface(queues) || `${who} ${read} too slowly`}.`
        : many
          ? `${name} asks ${who} ${formatNumber(peer.per_s, "1/s")} times a second, one question after the other, and waits ${share} of the time for answers.`
          : `${name} waits ${share} of the time for bytes from ${who}, ${formatValue(each_s, "s")} each time.`;
      return [
        {
          id,
          text,
          numbers: [
            measured(wait / active, "share", "of the time in which it is not idle"),
            measured(
              wait / seconds,
              "threads",
              `wait ${sends ? "to send" : "for bytes"} on average`,
            ),
            readers
              ? measured(readers.full, "count", "connections are full on average")
              : peer
                ? measured(peer.per_s, "1/s", `wake-ups a second by ${who}`)
                : measured(threads, "threads", "not idle on average"),
          ],
          evidence: `${counted(Math.round(threads), "thread")}, over ${formatDuration(seconds)}. Threshold: ${percent(NETWORK_SHARE)} of its time.`,
          advice: sends
            ? "Give slow readers a time limit or a buffer of their own."
            : many
              ? "Ask for several things in one request."
              : "See why the other side takes so long; if these threads wait for requests, all is well.",
          confidence: sends ? ("measured" as const) : ("likely" as const),
          link: { panel: "wakes" as const, key },
          weight: wait / seconds,
        },
      ];
    }),
};

/** Thresholds: page faults a second, CPU time and the kernel's share of it. */
const FAULTS = 10_000;
const FAULTS_CPU = 0.1;
const FAULTS_SYSTEM = 0.5;

export const FAULTS_RULE: Rule = {
  subject: "page faults",
  ledger: false,
  find: ({ roles, seconds }, ease) =>
    roles.flatMap((times) => {
      const { key, faults, system, cpu } = times;
      const id = `faults:${key}`;
      const busy =
        cpu / seconds >= ease(id) * FAULTS_CPU && system >= ease(id) * FAULTS_SYSTEM * cpu;
      if (faults / seconds < ease(id) * FAULTS || !busy) return [];
      return [
        {
          id,
          text:
            `${nameOfRole(times)} causes ${formatNumber(faults / seconds, "1/s")} page faults a second; ` +
            `the kernel takes ${formatValue(system / cpu, "share")} of its CPU time.`,
          numbers: [
            measured(faults / seconds, "1/s", "page faults a second"),
            measured(cpu / seconds, "cores", "used"),
            measured(system / cpu, "share", "of that in the kernel"),
          ],
          evidence:
            `Over ${formatDuration(seconds)}. ` +
            `Threshold: ${formatNumber(FAULTS, "1/s")} a second and ${percent(FAULTS_SYSTEM)} of its CPU time.`,
          advice:
            "Keep memory instead of giving it back and mapping it again, or use larger pages.",
          confidence: "measured" as const,
          link: { panel: "times" as const, key },
          weight: system / seconds,
        },
      ];
    }),
};
