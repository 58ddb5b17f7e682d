import { describe, expect, it } from "vitest";
import { factTables } from "../../testing/factModel";
import type { FrameTables } from "../../wire/frame";
import { COLUMNS, KEYS } from "../../wire/generated/frameTables";
import {
  ACCEPT_QUEUES,
  CALL_STAYS,
  CALLS,
  DEVICES,
  Facts,
  FILE_LOCKS,
  GOROUTINE_STACKS,
  GOROUTINES,
  HOLDERS,
  LOCK_NAMES,
  LOCKS,
  PARTIES,
  PEERS,
  STAYS,
  TAKERS,
  WAKES,
} from "./facts";
import { FactTable } from "./factTable";

const wake = (waker_tid: number, count: number) => ({
  ...{ waker_tid, waker_pid: 1, wakee_tid: 9, count, blocked_ns: 10 * count, delay_ns: count },
});

function growth(facts: Facts, t0_s: number, t1_s: number): Record<number, number> {
  const window = facts.wakes.window(t0_s, t1_s);
  return Object.fromEntries(
    [...facts.wakes.all()].map((slot) => [
      facts.wakes.key(slot, WAKES.waker_tid),
      facts.wakes.grown(window, slot, WAKES.count),
    ]),
  );
}

it("knows all columns of all tables", () => {
  const places = {
    ...{ stays: STAYS, wakes: WAKES, locks: LOCKS, lock_names: LOCK_NAMES, holders: HOLDERS },
    ...{ takers: TAKERS, parties: PARTIES, calls: CALLS, call_stays: CALL_STAYS },
    ...{ goroutines: GOROUTINES, goroutine_stacks: GOROUTINE_STACKS },
    ...{ accept_queues: ACCEPT_QUEUES, peers: PEERS },
    ...{ file_locks: FILE_LOCKS, devices: DEVICES },
  };
  // Processes and pools have separate models; inexact values have no past (inexact.ts).
  const others = ["processes", "inexact", "pools", "pool_times"];
  // The backend answers about stacks.
  const tables = Object.entries(COLUMNS).filter(
    ([name]) => !others.includes(name) && !name.startsWith("stack_"),
  );
  for (const [name, columns] of tables) {
    const known = places[name as keyof typeof places];
    expect(Object.keys(known).sort(), name).toEqual(Object.keys(columns).sort());
    KEYS[name as keyof typeof KEYS].forEach((key, place) => {
      expect((known as Record<string, number>)[key], `${name}.${key}`).toBe(place);
    });
  }
});

describe("a table over time", () => {
  it("gives the growth within a window, of rows that came later too", () => {
    const facts = new Facts(600);
    facts.take(null, factTables({ wakes: [wake(1, 5)] }), 0, true);
    facts.take(null, factTables({ wakes: [wake(1, 8)] }), 1, false);
    facts.take(null, factTables({ wakes: [wake(2, 4)] }), 2, false);
    facts.take(null, factTables({ wakes: [wake(1, 9), wake(2, 6)] }), 3, false);
    expect(growth(facts, 0, 3)).toEqual({ 1: 4, 2: 6 });
    expect(growth(facts, 1, 2)).toEqual({ 1: 0, 2: 4 });
    expect(facts.wakes.window(1, 3).seconds).toBe(2);
  });

  it("counts on from a row that began again: its thread id is another thread's", () => {
    const facts = new Facts(600);
    facts.take(null, factTables({ wakes: [wake(1, 500)] }), 0, true);
    facts.take(null, factTables({ wakes: [wake(1, 3)] }), 1, false);
    expect(growth(facts, 0, 1)).toEqual({ 1: 3 });
  });

  it("has no rate before the second instant, or until it is sure that nothing changes", () => {
    const facts = new Facts(600);
    facts.take(null, factTables({ wakes: [wake(1, 5)] }), 0, true);
    expect(facts.wakes.window(0, 1.9).seconds).toBe(0);
    expect(facts.wakes.window(0, 10).seconds).toBe(8);
    expect(growth(facts, 0, 10)).toEqual({ 1: 0 });
  });

  it("takes silence for standing still", () => {
    const facts = new Facts(600);
    facts.take(null, factTables({ wakes: [wake(1, 0)] }), 0, true);
    facts.take(null, factTables({ wakes: [wake(1, 10)] }), 1, false);
    facts.take(null, {}, 20, false);
    expect(facts.wakes.window(0, 20).seconds).toBe(18);
    expect(growth(facts, 0, 20)).toEqual({ 1: 10 });
    expect(growth(facts, 5, 20)).toEqual({ 1: 0 });
  });

  it("keeps the past of rows that a key frame does not name, for as long as there is a past", () => {
    const facts = new Facts(10);
    facts.take(null, factTables({ wakes: [wake(1, 0), wake(2, 0)] }), 0, true);
    facts.take(null, factTables({ wakes: [wake(1, 7), wake(2, 7)] }), 1, false);
    facts.take(null, factTables({ wakes: [wake(1, 8)] }), 2, true);
    expect(growth(facts, 0, 2)).toEqual({ 1: 8, 2: 7 });
    facts.take(null, factTables({ wakes: [wake(1, 9)] }), 30, true);
    expect(growth(facts, 25, 30)).toEqual({ 1: 1 });
    // The replacement has no past.
    facts.take(null, factTables({ wakes: [wake(3, 2)] }), 31, false);
    expect(growth(facts, 25, 31)).toEqual({ 1: 1, 3: 2 });
  });

  it("counts what a thread left once: under its id, and what came after under 0", () => {
    const facts = new Facts(600);
    facts.take(null, factTables({ wakes: [wake(1, 100), wake(0, 7), wake(2, 3)] }), 0, true);
    facts.take(null, factTables({ wakes: [wake(1, 110)] }), 1, false);
    // Thread 2 ended after two more, and another woke once meanwhile.
    facts.take(null, factTables({ wakes: [wake(1, 0), wake(0, 7 + 112), wake(2, 4)] }), 2, false);
    expect(growth(facts, 0, 2)).toEqual({ 0: 2, 1: 10, 2: 1 });
    facts.take(null, factTables({ wakes: [wake(0, 7 + 112 + 5)] }), 3, false);
    expect(growth(facts, 0, 3)).toEqual({ 0: 7, 1: 10, 2: 1 });
    // A key frame omits vanished rows; thread 2 ended too.
    facts.take(null, factTables({ wakes: [wake(0, 7 + 112 + 5 + 4)] }), 4, true);
    expect(growth(facts, 0, 4)).toEqual({ 0: 7, 1: 10, 2: 1 });
    // The first thread's ID is recycled.
    facts.take(null, factTables({ wakes: [wake(1, 6)] }), 5, false);
    expect(growth(facts, 0, 5)).toEqual({ 0: 7, 1: 16, 2: 1 });
  });

  it("begins again where the time before is not looked at", () => {
    const facts = new Facts(600);
    facts.take(null, factTables({ wakes: [wake(1, 5)] }), 0, true);
    facts.take(null, factTables({ wakes: [wake(1, 900)] }), 100, true);
    facts.resume();
    facts.take(null, factTables({ wakes: [wake(1, 905)] }), 101, false);
    facts.take(null, factTables({ wakes: [wake(1, 911)] }), 102, false);
    // The key frame's tables may have been read some time before the frame.
    expect(growth(facts, 0, 102)).toEqual({ 1: 6 });
    expect(facts.wakes.window(0, 102).seconds).toBe(1);
  });

  it("takes no key frame that repeats the last reading for a reading", () => {
    const facts = new Facts(600);
    facts.take(null, factTables({ wakes: [wake(1, 0)] }), 0, true);
    facts.take(null, factTables({ wakes: [wake(1, 40)] }), 4, false);
    facts.take(null, factTables({ wakes: [wake(1, 40)] }), 7, true);
    // A busy collector reads every four seconds: it is not quiet.
    expect(facts.wakes.window(0, 7.5)).toMatchObject({ t1_s: 4, seconds: 4 });
    expect(growth(facts, 0, 7.5)).toEqual({ 1: 40 });
  });

  it("counts rates from when tables were read, which key frames repeat later", () => {
    const facts = new Facts(600);
    const read = (read_ns: number) => [{ name: "wakes", read_ns }];
    facts.take(read(1e9), factTables({ wakes: [wake(1, 10)] }), 1.01, true);
    facts.take(read(2e9), factTables({ wakes: [wake(1, 30)] }), 2.01, false);
    // A page that missed the previous frame.
    facts.take(read(3e9), factTables({ wakes: [wake(1, 50)] }), 3.9, true);
    expect(facts.wakes.window(0, 4)).toMatchObject({ t0_s: 1, t1_s: 3, seconds: 2 });
    expect(growth(facts, 0, 4)).toEqual({ 1: 40 });
  });

  it("takes no tables of stacks for a reading", () => {
    const facts = new Facts(600);
    facts.take([], factTables({ wakes: [wake(1, 5)] }), 1, true);
    const { edition } = facts;
    const columns = { what: Uint32Array.of(1), count: Float64Array.of(5) };
    const stacks: FrameTables = { stack_counts: { rows: 1, columns } };
    const described = [{ name: "stack_counts", omitted: 3, read_ns: 3e9 }];
    facts.take(described, stacks, 3, false);
    expect(facts.edition).toBe(edition);
    facts.take(described, { ...stacks, ...factTables({ wakes: [wake(1, 7)] }) }, 3, true);
    expect(growth(facts, 1, 3)).toEqual({ 1: 2 });
    expect(facts.wakes.omitted).toBe(0);
  });

  it("says how many rows are missing", () => {
    const facts = new Facts(600);
    const tables = factTables({ wakes: [wake(1, 5)] });
    facts.take([{ name: "wakes", omitted: 12 }], tables, 0, true);
    expect(facts.wakes.omitted).toBe(12);
  });

  it("stays within its memory", () => {
    const shape = { keys: ["tid"], values: ["count"], facts: [], maxBytes: 4 * 2 ** 20 };
    const table = new FactTable(shape, 600);
    const tid = Uint32Array.from({ length: 5000 }, (_, k) => k);
    for (let t_s = 0; t_s < 600; t_s++) {
      table.begin(t_s);
      const count = Float64Array.from(tid, (one) => one * t_s);
      table.take({ rows: tid.length, columns: { tid, count } }, 0, t_s, t_s === 0);
    }
    expect(table.bytes).toBeLessThan(4.5 * 2 ** 20);
    const window = table.window(590, 599);
    const [slot = -1] = [...table.all()].filter((each) => table.key(each, 0) === 4321);
    expect(table.grown(window, slot, 0)).toBe(4321 * 9);
  });
});
