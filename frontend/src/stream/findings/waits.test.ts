import { describe, expect, it } from "vitest";
import { edge, node, roleOf, texts, wakesOf } from "../../testing/evidence";
import { NO_LIMITS } from "../limits";
import { NO_QUEUES } from "../queues";
import { DISK_RULE, FAULTS_RULE, MEMORY_RULE, NETWORK_RULE } from "./waits";

it("says which role waits for the disk, of the time in which it has work", () => {
  expect(texts(DISK_RULE, { roles: [roleOf("writer", 2, { disk: 24, idle: 60 })] })).toEqual([
    "writer waits for the disk 40.0 % of the time in which it is not idle.",
  ]);
  expect(
    texts(DISK_RULE, { roles: [roleOf("writer", 2, { disk: 24, idle: Number.NaN })] }),
  ).toEqual([]);
  expect(texts(DISK_RULE, { roles: [roleOf("writer", 1, { disk: 1, idle: 58 })] })).toEqual([]);
});

it("says that files are synced one at a time, which several threads do", () => {
  const states = { file_sync: 10, file_sync_disk: 45 };
  const writer = roleOf("server", 4, { disk: 55, idle: 180, syncing: 3 }, states);
  expect(texts(DISK_RULE, { roles: [writer] })).toEqual([
    "server waits for the disk 91.7 % of the time in which it is not idle: it syncs files, one thread at a time, nearly always: it may hold a lock meanwhile.",
  ]);
  const [alone] = texts(DISK_RULE, { roles: [{ ...writer, syncing: 1 }] });
  expect(alone).toMatch(/: it syncs files\.$/);
});

it("names the disk limit that is used up, of reads or of writes", () => {
  const flusher = roleOf("flusher", 2, { disk: 110 }, { file_write_disk: 110 });
  const limits = { ...NO_LIMITS, disk: { limit: 4 << 20, unit: "bytes/s" as const } };
  const used = { ...limits, writes_limited: 0.9 };
  expect(texts(DISK_RULE, { roles: [flusher], limits: used })).toEqual([
    "flusher waits for the disk 91.7 % of the time in which it is not idle, at the disk limit of its control group, 4.00 MiB/s: it writes files.",
  ]);
  const ios = { ...used, disk: { limit: 200, unit: "1/s" as const } };
  expect(texts(DISK_RULE, { roles: [flusher], limits: ios })[0]).toMatch(
    /control group, 200 operations a second: it writes files\.$/,
  );
  const unused =
    "flusher waits for the disk 91.7 % of the time in which it is not idle: it writes files.";
  for (const other of [
    { ...limits, reads_limited: 0.9 },
    { ...limits, writes_limited: 0.3 },
  ])
    expect(texts(DISK_RULE, { roles: [flusher], limits: other })).toEqual([unused]);
});

it("blames the memory limit, not the disk, where pages are read again", () => {
  const index = roleOf("index", 2, { disk: 100 }, { page_fault_disk: 100 });
  const limits = (hits_per_s: number) => ({
    limits: { ...NO_LIMITS, memory: { bytes: 24 << 20, hits_per_s } },
  });
  expect(texts(MEMORY_RULE, { roles: [index], ...limits(900) })).toEqual([
    "index waits 83.3 % of the time for pages that were in memory before: the memory limit of its control group, 24.0 MiB, is reached 900 times a second.",
  ]);
  expect(texts(DISK_RULE, { roles: [index], ...limits(900) })).toEqual([]);
  expect(texts(MEMORY_RULE, { roles: [index], ...limits(1) })).toEqual([]);
  expect(texts(DISK_RULE, { roles: [index], ...limits(1) })).toHaveLength(1);
  const reader = roleOf("reader", 2, { disk: 100 }, { file_read_disk: 100 });
  expect(texts(MEMORY_RULE, { roles: [reader], ...limits(900) })).toEqual([]);
});

describe("network waits", () => {
  const wakes = (per_s: number) =>
    wakesOf(
      [node("store (90)", "process"), node("client-#", "role", per_s)],
      [
        // Most of the waiting ends by the store, though interrupts end as many waits.
        edge("interrupt:", "role:client-#", per_s, { blocked: 0.1 }),
        edge("process:store (90)", "role:client-#", per_s, { blocked: 5 }),
      ],
    );

  it("name a peer that reads too slowly", () => {
    const roles = [roleOf("client-#", 4, {}, { socket_send: 235 })];
    expect(texts(NETWORK_RULE, { roles, ...wakes(30) })).toEqual([
      "client-# waits 97.9 % of the time to send: process store (90) reads too slowly.",
    ]);
  });

  it("name processes that do it together", () => {
    const servers = [90, 91, 92].map((pid) => `name-server (${pid})`);
    const view = wakesOf(
      [
        ...servers.map((name) => node(name, "process")),
        node("store (93)", "process"),
        node("client-#", "role", 9),
      ],
      [
        edge("process:store (93)", "role:client-#", 2, { blocked: 2 }),
        ...servers.map((name) => edge(`process:${name}`, "role:client-#", 3, { blocked: 1 })),
      ],
    );
    const roles = [roleOf("client-#", 6, {}, { socket_receive: 330 })];
    expect(texts(NETWORK_RULE, { roles, ...view })).toEqual([
      "client-# waits 91.7 % of the time for bytes from 3 processes of name-server, 0.611 s each time.",
    ]);
  });

  it("name readers of full connections rather than who wakes the sender", () => {
    const roles = [roleOf("client-#", 4, {}, { socket_send: 235 })];
    const sending = [
      { pid: 7, reader: "process slow-client (91)", full: 2 },
      { pid: 7, reader: "192.0.2.7", full: 1 },
    ];
    const sentence = (own: typeof sending) =>
      texts(NETWORK_RULE, { roles, ...wakes(30), queues: { ...NO_QUEUES, sending: own } })[0];
    expect(sentence(sending.slice(0, 1))).toMatch(/process slow-client \(91\) reads too slowly\.$/);
    expect(sentence(sending)).toMatch(/slow-client \(91\) and 1 other read too slowly\.$/);
    // One connection does not explain what four threads wait for; another process' none of it.
    expect(sentence(sending.slice(1))).toMatch(/store \(90\) reads too slowly\.$/);
    const other = [{ ...roleOf("client-#", 4, {}, { socket_send: 235 }), process: "web (8)" }];
    const queues = { ...NO_QUEUES, sending };
    expect(texts(NETWORK_RULE, { roles: other, ...wakes(30), queues })[0]).toMatch(/store \(90\)/);
  });

  it("name who answers late, or is asked one by one", () => {
    const roles = [roleOf("client-#", 6, {}, { socket_receive: 330 })];
    expect(texts(NETWORK_RULE, { roles, ...wakes(11) })).toEqual([
      "client-# waits 91.7 % of the time for bytes from process store (90), 0.500 s each time.",
    ]);
    expect(texts(NETWORK_RULE, { roles, ...wakes(12_000) })).toEqual([
      "client-# asks process store (90) 12.0 k times a second, one question after the other, and waits 91.7 % of the time for answers.",
    ]);
  });

  it("are none if they are short, few, or nobody is known", () => {
    const roles = [roleOf("client-#", 6, {}, { socket_receive: 330 })];
    expect(texts(NETWORK_RULE, { roles, ...wakes(600) })).toEqual([]);
    expect(texts(NETWORK_RULE, { roles })).toEqual([]);
    const few = [roleOf("client-#", 6, {}, { socket_receive: 90 })];
    expect(texts(NETWORK_RULE, { roles: few, ...wakes(11) })).toEqual([]);
  });
});

it("says which role causes page faults, if the kernel is busy with them", () => {
  const role = (faults: number, system: number) =>
    roleOf("parser-#", 2, { cpu: 60, system, faults: faults * 60 });
  expect(texts(FAULTS_RULE, { roles: [role(400_000, 54)] })).toEqual([
    "parser-# causes 400 k page faults a second; the kernel takes 90.0 % of its CPU time.",
  ]);
  expect(texts(FAULTS_RULE, { roles: [role(400_000, 10)] })).toEqual([]);
  expect(texts(FAULTS_RULE, { roles: [role(2000, 54)] })).toEqual([]);
});

describe("a saturated device", () => {
  it("is named with waits for disks, if it is busy all the time with several requests", () => {
    const reader = roleOf("reader", 1, { disk: 30 }, { file_read_disk: 30 });
    const sentence = (busy: number, requests: number) =>
      texts(DISK_RULE, {
        roles: [reader],
        queues: { ...NO_QUEUES, disks: [{ name: "sda", busy, requests }] },
      })[0];
    expect(sentence(0.99, 8)).toMatch(
      /not idle, while the disk sda is busy 99\.0 % of the time with 8 requests: it reads files\.$/,
    );
    expect(sentence(0.99, 1)).not.toMatch(/sda/);
    expect(sentence(0.5, 8)).not.toMatch(/sda/);
  });

  it("is named instead of readers, if an interface sends at its speed", () => {
    const sender = roleOf("sender", 1, {}, { socket_send: 50 });
    const sentence = (sent: number) =>
      texts(NETWORK_RULE, {
        roles: [sender],
        queues: {
          ...NO_QUEUES,
          interfaces: [{ name: "eth0", speed: 125 << 20, received: 0, sent }],
        },
      })[0];
    expect(sentence(120 << 20)).toMatch(
      /to send: the interface eth0 sends 120 MiB\/s, at its speed of 125 MiB\/s\.$/,
    );
    expect(sentence(60 << 20)).toMatch(/the other side reads too slowly/);
  });
});
