import { describe, expect, it } from "vitest";
import { edge, node, roleOf, texts, wakesOf } from "../../testing/evidence";
import { POLLING_RULE } from "./polling";

describe("threads that wake up to look", () => {
  /** Wake-ups a second by timers, of all; those given; CPU time after each; and what is moved. */
  const evidence = (timers: number, gets: number, gives: number, run_s: number, moved: number) => ({
    roles: [roleOf("poller-#", 2, { cpu: 60 * gets * run_s, moved: 60 * moved }, { sleep: 110 })],
    ...wakesOf(
      [{ ...node("poller-#", "role", gets), gives_per_s: gives }],
      [edge("interrupt:", "role:poller-#", timers)],
    ),
  });

  it("and find nothing are named with how often", () => {
    expect(texts(POLLING_RULE, evidence(2000, 2000, 0, 5e-6, 0))).toEqual([
      "poller-# wakes up 2 000 times a second by timers, runs 5.00 µs each time, and finds nothing: it calls no socket, moves no bytes of disks, and wakes nobody.",
    ]);
  });

  it("are none that read, wake others, compute, or are woken by somebody or seldom", () => {
    expect(texts(POLLING_RULE, evidence(2000, 2000, 0, 5e-6, 900))).toEqual([]);
    expect(texts(POLLING_RULE, evidence(2000, 2000, 900, 5e-6, 0))).toEqual([]);
    expect(texts(POLLING_RULE, evidence(2000, 2000, 0, 40e-6, 0))).toEqual([]);
    expect(texts(POLLING_RULE, evidence(1000, 2000, 0, 5e-6, 0))).toEqual([]);
    expect(texts(POLLING_RULE, evidence(300, 300, 0, 5e-6, 0))).toEqual([]);
    expect(texts(POLLING_RULE, { ...evidence(2000, 2000, 0, 5e-6, 0), go: true })).toEqual([]);
  });
});
