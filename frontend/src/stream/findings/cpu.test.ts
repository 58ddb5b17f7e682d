import { describe, expect, it } from "vitest";
import {
  edge,
  NOTHING,
  node,
  roleOf,
  taker,
  takersOf,
  texts,
  wakesOf,
} from "../../testing/evidence";
import { OWN_DELAY_RULE, TAKEN_CPU_RULE, THROTTLING_RULE } from "./cpu";
import type { Evidence } from "./finding";
import { ofRules } from "./findings";

it("names GOMAXPROCS and the CPU limit where periods are throttled, and only there", () => {
  const cgroup = { limit: 2, gomaxprocs: 8, periods: 600, throttled: 222, throttled_share: 0.4 };
  expect(texts(THROTTLING_RULE, { cgroup })).toEqual([
    "GOMAXPROCS 8, CPU limit 2.00 cores: throttled in 37.0 % of periods.",
  ]);
  const other = { ...cgroup, gomaxprocs: null };
  expect(texts(THROTTLING_RULE, { cgroup: other })).toEqual([
    "CPU limit 2.00 cores: throttled in 37.0 % of periods.",
  ]);
  expect(texts(THROTTLING_RULE, { cgroup: { ...cgroup, throttled: 12 } })).toEqual([]);
  expect(texts(THROTTLING_RULE, { cgroup: { ...cgroup, limit: null } })).toEqual([]);
});

it("counts the threads that a CPU limit holds, where their state is known", () => {
  const cgroup = { limit: 2, gomaxprocs: 8, periods: 600, throttled: 222, throttled_share: 0.4 };
  const numbers = (roles: Evidence["roles"]) =>
    ofRules([THROTTLING_RULE], { ...NOTHING, cgroup, roles }, [])
      .flatMap((one) => one.numbers)
      .map(({ value, what }) => `${value} ${what}`);
  expect(numbers([])).toEqual([
    "37.0 % of the periods throttled",
    "0.400 cores throttled on average",
    "2.00 cores is the limit",
  ]);
  const held = roleOf("worker-#", 8, {}, { throttled: 90 });
  expect(numbers([held])).toContain("1.50 threads throttled on average");
});

it("names the process that runs instead", () => {
  const named = taker("process", 0.5, 0.6);
  expect(texts(TAKEN_CPU_RULE, takersOf(named))).toEqual([
    "Process ffmpeg (7) ran while 3 threads of this process could have run: 0.500 threads on average, 60.0 % of its run-queue delay.",
  ]);
  expect(texts(TAKEN_CPU_RULE, takersOf(taker("own", 0.5, 0.6)))).toEqual([]);
  expect(texts(TAKEN_CPU_RULE, takersOf(taker("unknown", 0.5, 0.6)))).toEqual([]);
  expect(texts(TAKEN_CPU_RULE, takersOf(taker("process", 0.15, 0.6)))).toEqual([]);
  expect(texts(TAKEN_CPU_RULE, takersOf(taker("process", 0.5, 0.1)))).toEqual([]);
  const busy = [roleOf("worker-#", 8, { cpu: 400 })];
  expect(texts(TAKEN_CPU_RULE, { ...takersOf(named), roles: busy })).toEqual([]);
  const cgroup = { limit: 1, gomaxprocs: null, periods: 600, throttled: 300, throttled_share: 1 };
  expect(texts(TAKEN_CPU_RULE, { ...takersOf(named), cgroup })).toEqual([]);
});

describe("threads that wait for a CPU behind their own process", () => {
  const own = takersOf(taker("own", 2, 0.9, "this process"));
  const servers = roleOf("server-#", 3, { queue: 100, cpu: 5 });
  const realtime = roleOf("realtime", 1, { cpu: 54 });

  it("are said with who ran meanwhile", () => {
    expect(texts(OWN_DELAY_RULE, { ...own, roles: [servers, realtime] })).toEqual([
      "server-# waits for a CPU 95.2 % of the time in which it could run, behind threads of this process: most CPU time went to realtime (0.900 cores).",
    ]);
  });

  it("are none if others took the CPUs, or they hardly wait", () => {
    const others = takersOf(taker("process", 2, 0.9));
    expect(texts(OWN_DELAY_RULE, { ...others, roles: [servers, realtime] })).toEqual([]);
    const little = { ...servers, queue: 20 };
    expect(texts(OWN_DELAY_RULE, { ...own, roles: [little, realtime] })).toEqual([]);
  });

  const herd = (delay_s: number, per_s: number) => ({
    ...own,
    roles: [roleOf("timer-#", 200, { cpu: 30, queue: 600 }, { sleep: 11_000 })],
    ...wakesOf(
      [node("timer-#", "role", per_s), node("", "interrupt")],
      [edge("interrupt:", "role:timer-#", per_s, { delay_s })],
    ),
  });

  it("wake up together if they sleep most of the time", () => {
    expect(texts(OWN_DELAY_RULE, herd(2.5e-3, 4000))).toEqual([
      "200 threads of timer-# wake up at the same time, 20.0 times a second, and then wait 2.50 ms for a CPU behind each other.",
    ]);
  });

  it("do not if they soon get a CPU, or wake up seldom", () => {
    const crowded = /^timer-# waits for a CPU 95.2 % of the time/;
    expect(texts(OWN_DELAY_RULE, herd(0.1e-3, 4000))).toEqual([expect.stringMatching(crowded)]);
    expect(texts(OWN_DELAY_RULE, herd(2.5e-3, 20))).toEqual([expect.stringMatching(crowded)]);
  });
});
