/**
 * Queues that the kernel keeps, within the visible window: connections not yet accepted or not read,
 * locks of files, and devices. By readings twice a second, between which a queue is as it was at the end.
 */

import type { ViewInput } from "./chartView";
import { ACCEPT_QUEUES, DEVICES, FILE_LOCKS, PEERS } from "./facts/facts";

/** A listening socket of the target. */
export interface AcceptQueue {
  readonly socket: number;
  readonly address: string;
  /** Processes that have it open. */
  readonly pids: readonly number[];
  /** Connections that wait, on average. */
  readonly waiting: number;
  /** Share of the time in which a connection waits. */
  readonly some: number;
}

/** A process of the target whose connections to a reader are full. */
export interface SendQueue {
  readonly pid: number;
  /** Process that reads, such as "process store (90)"; its address if it is not of this host. */
  readonly reader: string;
  /** Full connections on average. */
  readonly full: number;
}

/** A process of the target, and one on this host that it opened connections to. */
export interface Asked {
  readonly pid: number;
  readonly peer_pid: number;
  /** Connections between them that it opened. */
  readonly opened: number;
}

/** A process that holds locks of a file, or waits for one. */
export interface FileLocker {
  readonly pid: number;
  /** Shares of the time in which it holds one exclusively, and waits in the kernel. */
  readonly held: number;
  readonly waiting: number;
}

export interface LockedFile {
  readonly file: number;
  /** Path by which a process has it open; "" if unknown. */
  readonly path: string;
  readonly lockers: readonly FileLocker[];
}

export interface BusyDisk {
  readonly name: string;
  /** Share of the time with requests under way, and their number on average. */
  readonly busy: number;
  readonly requests: number;
}

export interface BusyInterface {
  readonly name: string;
  /** Bytes a second: what it is capable of, receives and sends. */
  readonly speed: number;
  readonly received: number;
  readonly sent: number;
}

export interface QueuesView {
  readonly accepting: readonly AcceptQueue[];
  /** The fullest first. */
  readonly sending: readonly SendQueue[];
  readonly asked: readonly Asked[];
  readonly files: readonly LockedFile[];
  readonly disks: readonly BusyDisk[];
  readonly interfaces: readonly BusyInterface[];
}

export const NO_QUEUES = {
  ...{ accepting: [], sending: [], asked: [], files: [], disks: [], interfaces: [] },
} as const satisfies QueuesView;

export function queuesView(input: ViewInput): QueuesView {
  return {
    ...{ accepting: acceptQueues(input), sending: sendQueues(input), asked: asked(input) },
    ...{ files: lockedFiles(input), ...devices(input) },
  };
}

function acceptQueues({ model, span, now_s }: ViewInput): readonly AcceptQueue[] {
  const table = model.facts.accept_queues;
  const window = table.window(span.t0_s, Math.min(span.t1_s, now_s));
  const found = new Map<number, AcceptQueue & { pids: number[] }>();
  for (const slot of table.all()) {
    if (!table.isThere(slot)) continue;
    const socket = table.key(slot, ACCEPT_QUEUES.socket);
    const pid = table.key(slot, ACCEPT_QUEUES.pid);
    const held = found.get(socket);
    if (held) {
      held.pids.push(pid);
      continue;
    }
    const covered = table.grown(window, slot, ACCEPT_QUEUES.covered_ns);
    found.set(socket, {
      ...{ socket, pids: [pid], address: table.text(slot, ACCEPT_QUEUES.address) },
      waiting: table.grown(window, slot, ACCEPT_QUEUES.waiting_ns) / covered || 0,
      some: table.grown(window, slot, ACCEPT_QUEUES.some_ns) / covered || 0,
    });
  }
  return [...found.values()];
}

function sendQueues({ model, span, now_s }: ViewInput): readonly SendQueue[] {
  const table = model.facts.peers;
  const window = table.window(span.t0_s, Math.min(span.t1_s, now_s));
  const found: SendQueue[] = [];
  for (const slot of table.all()) {
    const covered = table.grown(window, slot, PEERS.covered_ns);
    const full = table.grown(window, slot, PEERS.full_ns) / covered || 0;
    if (full === 0) continue;
    const peer_pid = table.fact(slot, PEERS.peer_pid);
    const reader =
      peer_pid > 0
        ? `process ${table.text(slot, PEERS.name)} (${peer_pid})`
        : table.text(slot, PEERS.address);
    found.push({ pid: table.fact(slot, PEERS.pid), reader, full });
  }
  return found.toSorted((a, b) => b.full - a.full);
}

function asked({ model }: ViewInput): readonly Asked[] {
  const table = model.facts.peers;
  const found: Asked[] = [];
  for (const slot of table.all()) {
    const peer_pid = table.fact(slot, PEERS.peer_pid);
    const opened = table.fact(slot, PEERS.opened);
    if (peer_pid === 0 || opened === 0) continue;
    found.push({ pid: table.fact(slot, PEERS.pid), peer_pid, opened });
  }
  return found;
}

function lockedFiles({ model, span, now_s }: ViewInput): readonly LockedFile[] {
  const table = model.facts.file_locks;
  const window = table.window(span.t0_s, Math.min(span.t1_s, now_s));
  const found = new Map<number, LockedFile & { lockers: FileLocker[] }>();
  for (const slot of table.all()) {
    const file = table.key(slot, FILE_LOCKS.file);
    const path = table.text(slot, FILE_LOCKS.path);
    const held_ns = table.grown(window, slot, FILE_LOCKS.held_ns);
    const waiting_ns = table.grown(window, slot, FILE_LOCKS.waiting_ns);
    if (held_ns + waiting_ns === 0) continue;
    const ns = 1e9 * window.seconds;
    const held = held_ns / ns || 0;
    const waiting = waiting_ns / ns || 0;
    const one = found.get(file) ?? { file, path, lockers: [] };
    one.lockers.push({ pid: table.key(slot, FILE_LOCKS.pid), held, waiting });
    found.set(file, one);
  }
  return [...found.values()];
}

function devices({ model, span, now_s }: ViewInput): Pick<QueuesView, "disks" | "interfaces"> {
  const table = model.facts.devices;
  const window = table.window(span.t0_s, Math.min(span.t1_s, now_s));
  const disks: BusyDisk[] = [];
  const interfaces: BusyInterface[] = [];
  for (const slot of table.all()) {
    const name = table.text(slot, DEVICES.name);
    const perSecond = (field: number): number => table.grown(window, slot, field) / window.seconds;
    if (table.text(slot, DEVICES.kind) === "disk") {
      const busy = Math.min(1, perSecond(DEVICES.busy_ns) / 1e9) || 0;
      disks.push({ name, busy, requests: perSecond(DEVICES.queue_ns) / 1e9 || 0 });
      continue;
    }
    const speed = table.fact(slot, DEVICES.speed);
    const received = perSecond(DEVICES.received_bytes) || 0;
    interfaces.push({ name, speed, received, sent: perSecond(DEVICES.sent_bytes) || 0 });
  }
  return { disks, interfaces };
}
