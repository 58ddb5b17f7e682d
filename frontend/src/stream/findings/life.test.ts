import { expect, it } from "vitest";
import { roleOf, texts } from "../../testing/evidence";
import { COLLECTOR_RULE, GROWTH_RULE, STORM_RULE } from "./life";

it("says how much of the CPU time a JVM collects garbage", () => {
  const roles = (collectors: number) => [
    roleOf("report-#", 2, { cpu: 30 }),
    roleOf("GC Thread#", 2, { cpu: collectors }),
    roleOf("G1 Conc#", 1, { cpu: 10 }),
  ];
  expect(texts(COLLECTOR_RULE, { roles: roles(60) })).toEqual([
    "Garbage collection takes 70.0 % of the program’s CPU time, 1.17 cores.",
  ]);
  expect(texts(COLLECTOR_RULE, { roles: roles(0).slice(0, 2) })).toEqual([]);
});

it("says which role grows, if it goes on and hardly a thread ends", () => {
  const request = { threads: 150, born: 120, late: 55, live: 148 };
  expect(texts(GROWTH_RULE, { roles: [roleOf("request", 150, request)] })).toEqual([
    "The number of threads of request grows: 118 more in 1 min 00 s, now 148, and hardly one ends.",
  ]);
  const started = { ...request, late: 0 };
  expect(texts(GROWTH_RULE, { roles: [roleOf("pool-#", 150, started)] })).toEqual([]);
  const changing = { ...request, live: 60 };
  expect(texts(GROWTH_RULE, { roles: [roleOf("request", 150, changing)] })).toEqual([]);
});

it("says who starts many short-lived processes", () => {
  const short = roleOf("true", 3000, { wall: 6, cpu: 3, short: 3000, short_s: 6 });
  const handler = roleOf("handler-#", 2, {}, { child: 100 });
  expect(texts(STORM_RULE, { roles: [short, handler], grouped: true })).toEqual([
    "handler-# starts 50.0 processes a second of true, which live 2.00 ms each.",
  ]);
  expect(texts(STORM_RULE, { roles: [short] })).toEqual([
    "50.0 threads a second of true start and end, after 2.00 ms each.",
  ]);
  // The model keeps the last ones only: they ended in the last two seconds.
  expect(texts(STORM_RULE, { roles: [short], ends_s: 2 })[0]).toMatch(/^1.50 k threads a second/);
  expect(texts(STORM_RULE, { roles: [short], ends_s: 0 })).toEqual([]);
  const longer = { ...short, short_s: 900 };
  expect(texts(STORM_RULE, { roles: [longer] })).toEqual([]);
});
