import { describe, expect, it } from "vitest";
import { NOTHING, texts } from "../../testing/evidence";
import { factInput, factModel } from "../../testing/factModel";
import { queuesView } from "../queues";
import type { Queuers } from "./finding";
import { ACCEPT_RULE, FILE_LOCK_RULE } from "./queues";

const BY: Queuers = {
  ...{ name: "3 processes of gunicorn", key: "role:python3" },
  ...{ threads: 3, running: 0.05, sleeping: 0.9, accepting: 0.02 },
};

describe("connections that wait to be accepted", () => {
  const evidence = (waiting: number, some: number, by: Partial<Queuers> = {}) => ({
    queues: {
      accepting: [
        {
          ...{ socket: 1, address: "127.0.0.1:8000", pids: [7, 8, 9], waiting, some },
          by: { ...BY, ...by },
        },
      ],
      ...{ sending: [], asked: [], files: [], disks: [], interfaces: [] },
    },
  });

  it("are served by one thread, or by threads", () => {
    const served = (threads: number) =>
      ACCEPT_RULE.find({ ...NOTHING, ...evidence(9, 1, { threads }) }, () => 1)[0]?.numbers[1];
    expect(served(1)).toEqual({ value: "1", what: "thread serves there" });
    expect(served(3)).toEqual({ value: "3", what: "threads serve there" });
  });

  it("are named with the port, and with who should accept them", () => {
    expect(texts(ACCEPT_RULE, evidence(9, 1))).toEqual([
      "9 connections on average wait to be accepted at 127.0.0.1:8000: 3 processes of gunicorn that should accept them have something else to do 98.0 % of the time, mostly asleep in a call.",
    ]);
    const busy = { running: 0.9, sleeping: 0 };
    expect(texts(ACCEPT_RULE, evidence(2, 0.9, busy))[0]).toMatch(/mostly running\.$/);
  });

  it("are none if few wait, or only at times", () => {
    expect(texts(ACCEPT_RULE, evidence(0.7, 1))).toEqual([]);
    expect(texts(ACCEPT_RULE, evidence(9, 0.5))).toEqual([]);
  });
});

describe("a lock of a file", () => {
  const evidence = (
    lockers: readonly (readonly [number, number])[],
    by: Partial<Queuers> = {},
    path = "/var/lib/sales.db",
  ) => ({
    queues: {
      files: [
        {
          ...{ file: 1, path },
          lockers: lockers.map(([held, waiting], pid) => ({ pid, held, waiting })),
          by: { ...BY, name: "6 processes of bookkeeper", ...by },
        },
      ],
      ...{ accepting: [], sending: [], asked: [], disks: [], interfaces: [] },
    },
  });
  const turns = [0.17, 0.16, 0.17, 0.16, 0.17, 0.16].map((held) => [held, 0] as const);

  it("that processes hold in turn and look for by timers is named with the file", () => {
    expect(texts(FILE_LOCK_RULE, evidence(turns))).toEqual([
      "6 processes of bookkeeper hold the lock of the file /var/lib/sales.db one at a time, together 99.0 % of the time: the others sleep meanwhile, and look for it by timers.",
    ]);
  });

  it("that processes wait for in the kernel needs no sleep", () => {
    const queued = [
      [0.5, 0.5],
      [0.4, 0.6],
    ] as const;
    expect(texts(FILE_LOCK_RULE, evidence(queued, { sleeping: 0 }, ""))).toEqual([
      "6 processes of bookkeeper hold the lock of a file (number 1) one at a time, together 90.0 % of the time: 1.10 wait for it on average.",
    ]);
  });

  it("is none that one process keeps, that is mostly free, or whose holders compute", () => {
    expect(texts(FILE_LOCK_RULE, evidence([[1, 0]]))).toEqual([]);
    expect(texts(FILE_LOCK_RULE, evidence(turns.slice(3)))).toEqual([]);
    expect(texts(FILE_LOCK_RULE, evidence(turns, { sleeping: 0.1 }))).toEqual([]);
  });
});

describe("queues of a window", () => {
  it("are means of what was read within it", () => {
    const socket = (t_s: number) => ({
      ...{
        socket: 1,
        waiting: 4,
        waiting_ns: 4e9 * t_s,
        some_ns: 1e9 * t_s,
        covered_ns: 2e9 * t_s,
      },
      address: "[::]:80",
    });
    const peer = (number: number, full_ns: number, t_s: number) => ({
      ...{ peer: number, pid: 7, peer_pid: 0, opened: 0, full: 1, unsent: 9000 },
      ...{ full_ns, covered_ns: 1e9 * t_s, address: "192.0.2.7", name: "" },
    });
    const at = (t_s: number) => ({
      t_s,
      facts: {
        accept_queues: [
          { ...socket(t_s), pid: 7 },
          { ...socket(t_s), pid: 8 },
        ],
        peers: [
          peer(1, 5e8 * t_s, t_s),
          { ...peer(2, 3e9 * t_s, t_s), peer_pid: 90, name: "store" },
          { ...peer(3, 0, t_s), peer_pid: 90, name: "store", opened: 2 },
        ],
        file_locks: [
          { file: 2, pid: 7, held_ns: 5e8 * t_s, waiting_ns: 0, covered_ns: 1e9 * t_s, path: "x" },
          { file: 3, pid: 7, held_ns: 0, waiting_ns: 0, covered_ns: 1e9 * t_s, path: "y" },
        ],
        devices: [
          {
            ...{ device: 1, kind: "disk", name: "sda", speed: 0 },
            ...{ busy_ns: 9e8 * t_s, queue_ns: 3e9 * t_s, received_bytes: 0, sent_bytes: 0 },
          },
          {
            ...{ device: 2, kind: "network", name: "eth0", speed: 125e6 },
            ...{ busy_ns: 0, queue_ns: 0, received_bytes: 10 * t_s, sent_bytes: 1e8 * t_s },
          },
        ],
      },
    });
    const view = queuesView(factInput(factModel(["a"], [at(0), at(5), at(10)])));
    expect(view).toEqual({
      accepting: [{ socket: 1, address: "[::]:80", pids: [7, 8], waiting: 2, some: 0.5 }],
      sending: [
        { pid: 7, reader: "process store (90)", full: 3 },
        { pid: 7, reader: "192.0.2.7", full: 0.5 },
      ],
      asked: [{ pid: 7, peer_pid: 90, opened: 2 }],
      files: [{ file: 2, path: "x", lockers: [{ pid: 7, held: 0.5, waiting: 0 }] }],
      disks: [{ name: "sda", busy: 0.9, requests: 3 }],
      interfaces: [{ name: "eth0", speed: 125e6, received: 10, sent: 1e8 }],
    });
  });
});
