/** Threads that wait for answers of processes that they ask: many small ones, or late ones. */

import type { ViewInput } from "../chartView";
import { counted, formatDuration, formatNumber, formatValue, processesOf } from "../format";
import { growthWithin } from "../parked";
import type { Asked } from "../queues";
import { wakePartners } from "../wakes";
import {
  type Asking,
  inStates,
  measured,
  nameOfRole,
  percent,
  type RoleTimes,
  type Rule,
  type ThreadTimes,
} from "./finding";
import { NETWORK_RULE } from "./waits";

/** Maximum threads whose wakers are examined: a walk through all wake-ups for each. */
const THREADS = 16;
const PROCESS = /^process:(\d+)/;

/** Roles with threads that poll or read sockets, and whose answers end these waits. */
export function asking(
  input: ViewInput,
  asked: readonly Asked[],
  threads: readonly ThreadTimes[],
  seconds: number,
): readonly Asking[] {
  if (asked.length === 0) return [];
  const connections = new Map<number, number>();
  for (const { peer_pid, opened } of asked)
    connections.set(peer_pid, (connections.get(peer_pid) ?? 0) + opened);
  const sums = new Map<string, Sums>();
  const heard = (thread: ThreadTimes): number => inStates(thread, "poll", "socket_receive");
  const listening = threads.filter((thread) => heard(thread) > 0);
  for (const thread of listening.toSorted((a, b) => heard(b) - heard(a)).slice(0, THREADS)) {
    const sum = sums.get(thread.role) ?? { peers: new Map(), ...NONE };
    sums.set(thread.role, sum);
    sum.listening += heard(thread) / seconds;
    for (const { key, kind, name, per_s, blocked } of wakePartners(input, thread.tid, "wakers")) {
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
    const peer = peerName([...peers.values()]);
    const writes_per_s = writesOf(input, threads, role) / seconds;
    return [{ role, peer, connections: all, writes_per_s, ...sum }];
  });
}

const NONE = { answers_per_s: 0, others_per_s: 0, waiting: 0, listening: 0 };

interface Sums {
  /** Names by process. */
  readonly peers: Map<number, string>;
  answers_per_s: number;
  others_per_s: number;
  waiting: number;
  listening: number;
}

/** Writes to sockets of all threads of a role: another one may write than polls, as in Go. */
function writesOf(
  { model, span, now_s }: ViewInput,
  threads: readonly ThreadTimes[],
  role: string,
): number {
  const t0_s = Math.max(span.t0_s, model.since_s);
  const t1_s = Math.min(span.t1_s, now_s);
  return threads.reduce((sum, { tid, role: own }) => {
    const thread = own === role ? model.threads.byTid.get(tid) : undefined;
    return thread ? sum + (growthWithin(model, thread, "net_write_calls", t0_s, t1_s) || 0) : sum;
  }, 0);
}

function peerName(names: readonly string[]): string {
  const [only] = names;
  if (names.length === 1) return `process ${only}`;
  return processesOf(names.map((name) => name.replace(/ \(\d+\).*$/, "")));
}

export const ASKING_RULE: Rule = {
  subject: "questions to other processes",
  ledger: true,
  find: (evidence, ease) => {
    const { asking: all, roles, seconds } = evidence;
    const names = new Set(all.map(({ role }) => role));
    const those = roles.filter(({ role }) => names.has(role));
    const byRole = new Map(those.map((times) => [times.role, times]));
    // Another rule has roles that mostly wait.
    const said = new Set(
      NETWORK_RULE.find({ ...evidence, roles: those }, ease).map(({ id }) => id),
    );
    return all.flatMap((one) => {
      const times = byRole.get(one.role);
      if (!times || said.has(`network:${times.key}`)) return [];
      const id = `asking:${times.key}`;
      const found =
        manyQuestions(one, times, seconds, ease(id)) ?? lateAnswers(one, times, ease(id));
      if (!found) return [];
      const connections = counted(one.connections, "connection");
      const evidence = `${connections}, over ${formatDuration(seconds)}. Threshold: ${found.threshold}.`;
      const { text, numbers, advice, weight } = found;
      const link = { panel: "wakes" as const, key: times.key };
      const confidence = "likely" as const;
      return [{ id, text, numbers, evidence, advice, confidence, link, weight }];
    });
  },
};

/** Thresholds: answers a second, for each connection, and for each time that others wake it. */
const ANSWERS_PER_S = 500;
const EACH_CONNECTION = 200;
const EACH_OTHER = 20;

function manyQuestions(one: Asking, times: RoleTimes, seconds: number, ease: number) {
  const { peer, connections, answers_per_s, others_per_s, waiting } = one;
  const many = answers_per_s >= ease * Math.max(ANSWERS_PER_S, EACH_CONNECTION * connections);
  if (!many || answers_per_s < ease * EACH_OTHER * others_per_s) return null;
  return {
    text:
      `${nameOfRole(times)} asks ${peer} ${formatNumber(answers_per_s, "1/s")} times a second, many small questions after each other: ` +
      `all others wake it ${formatNumber(others_per_s, "1/s")} times a second.`,
    numbers: [
      measured(answers_per_s, "1/s", "answers a second that it waited for"),
      measured(others_per_s, "1/s", "wake-ups a second by all others"),
      measured(waiting, "threads", "wait for answers on average"),
    ] as const,
    threshold: `${ANSWERS_PER_S} a second, ${EACH_CONNECTION} of each connection, ${EACH_OTHER} for each wake-up by others`,
    advice: "Ask for several things in one request.",
    weight: waiting + times.cpu / seconds,
  };
}

/** Thresholds: time until an answer, share of the waits for sockets, and threads on average. */
const ANSWER_S = 0.02;
const WAITING = 0.5;
const THREADS_WAITING = 0.5;
/** Minimum number of writes for an answer: whoever only takes news does not ask. */
const WRITES = 0.5;

function lateAnswers(one: Asking, times: RoleTimes, ease: number) {
  const { peer, answers_per_s, waiting, listening, writes_per_s } = one;
  const each_s = waiting / answers_per_s;
  if (each_s < ease * ANSWER_S || waiting < ease * THREADS_WAITING) return null;
  if (waiting < ease * WAITING * listening || writes_per_s < WRITES * answers_per_s) return null;
  return {
    text: `${nameOfRole(times)} waits for answers of ${peer} ${formatValue(waiting / listening, "share")} of the time in which it waits for sockets, ${formatValue(each_s, "s")} each time.`,
    numbers: [
      measured(waiting, "threads", "wait for answers on average"),
      measured(each_s, "s", "until an answer comes"),
      measured(answers_per_s, "1/s", "answers a second"),
    ] as const,
    threshold: `${formatValue(ANSWER_S, "s")} each, and ${percent(WAITING)} of its waits for sockets`,
    advice: "See why the other side takes so long.",
    weight: waiting,
  };
}
