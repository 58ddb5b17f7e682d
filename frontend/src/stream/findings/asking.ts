/** Event loops that ask another process many small questions, one after the other. */

import type { ViewInput } from "../chartView";
import { counted, formatDuration, formatNumber } from "../format";
import type { Asked } from "../queues";
import { wakePartners } from "../wakes";
import {
  type Asking,
  inStates,
  measured,
  nameOfRole,
  type RoleTimes,
  type Rule,
  type ThreadTimes,
} from "./finding";

/** Thresholds: answers a second, for each connection, and for each time that others wake it. */
const ANSWERS_PER_S = 500;
const EACH_CONNECTION = 200;
const EACH_OTHER = 20;
/** Maximum threads whose wakers are examined: a walk through all wake-ups for each. */
const THREADS = 16;
const PROCESS = /^process:(\d+)/;

/** Roles with threads that poll, and whose answers end these polls. */
export function asking(
  input: ViewInput,
  asked: readonly Asked[],
  threads: readonly ThreadTimes[],
): readonly Asking[] {
  if (asked.length === 0) return [];
  const connections = new Map<number, number>();
  for (const { peer_pid, opened } of asked)
    connections.set(peer_pid, (connections.get(peer_pid) ?? 0) + opened);
  const sums = new Map<string, Sums>();
  const polling = threads
    .filter((thread) => inStates(thread, "poll") > 0)
    .toSorted((a, b) => inStates(b, "poll") - inStates(a, "poll"));
  for (const { tid, role } of polling.slice(0, THREADS)) {
    const sum = sums.get(role) ?? {
      peers: new Map(),
      others_per_s: 0,
      waiting: 0,
      answers_per_s: 0,
    };
    sums.set(role, sum);
    for (const { key, kind, name, per_s, blocked } of wakePartners(input, tid, "wakers")) {
      if (kind === "role") continue;
      const pid = Number(PROCESS.exec(key)?.[1]);
      if (!connections.has(pid)) {
        sum.others_per_s += per_s;
        continue;
      }
      sum.peers.set(pid, name);
      sum.answers_per_s += per_s;
      sum.waiting += blocked;
    }
  }
  return [...sums].flatMap(([role, { peers, ...sum }]) => {
    if (peers.size === 0) return [];
    const all = [...peers.keys()].reduce((sum, pid) => sum + (connections.get(pid) ?? 0), 0);
    return [{ role, peer: peerName([...peers.values()]), connections: all, ...sum }];
  });
}

interface Sums {
  /** Names by process. */
  readonly peers: Map<number, string>;
  answers_per_s: number;
  others_per_s: number;
  waiting: number;
}

function peerName(names: readonly string[]): string {
  const [only] = names;
  if (names.length === 1) return `process ${only}`;
  const programs = new Set(names.map((name) => name.replace(/ \(\d+\).*$/, "")));
  return `${counted(names.length, "process", "processes")} of ${[...programs].join(", ")}`;
}

export const ASKING_RULE: Rule = {
  subject: "questions to other processes",
  ledger: true,
  find: ({ asking: all, roles, seconds }, ease) => {
    const byRole = new Map(roles.map((times) => [times.role, times]));
    return all.flatMap((one) => {
      const times = byRole.get(one.role);
      return times ? findingOf(one, times, seconds, ease(`asking:${times.key}`)) : [];
    });
  },
};

function findingOf(one: Asking, times: RoleTimes, seconds: number, ease: number) {
  const { peer, connections, answers_per_s, others_per_s, waiting } = one;
  const many = answers_per_s >= ease * Math.max(ANSWERS_PER_S, EACH_CONNECTION * connections);
  if (!many || answers_per_s < ease * EACH_OTHER * others_per_s) return [];
  const each = formatNumber(answers_per_s, "1/s");
  return [
    {
      id: `asking:${times.key}`,
      text:
        `${nameOfRole(times)} asks ${peer} ${each} times a second, many small questions after each other: ` +
        `all others wake it ${formatNumber(others_per_s, "1/s")} times a second.`,
      numbers: [
        measured(answers_per_s, "1/s", "answers a second that it waited for"),
        measured(others_per_s, "1/s", "wake-ups a second by all others"),
        measured(waiting, "threads", "wait for answers on average"),
      ] as const,
      evidence:
        `${counted(connections, "connection")}, over ${formatDuration(seconds)}. ` +
        `Threshold: ${ANSWERS_PER_S} a second, ${EACH_CONNECTION} of each connection, ${EACH_OTHER} for each wake-up by others.`,
      advice: "Ask for several things in one request.",
      confidence: "likely" as const,
      link: { panel: "wakes" as const, key: times.key },
      weight: waiting + times.cpu / seconds,
    },
  ];
}
