import { describe, expect, it } from "vitest";
import { factInput, factModel } from "../../testing/factModel";
import { finished } from "../steps";
import { dipsOf } from "./dips";
import { FindingsMaker } from "./findings";

/** Readings a second apart. */
const pointsOf = (rates: readonly number[]) => rates.map((value, t_s) => ({ t_s, value }));

/** Operations a second of CPython's pool of four, of which a lock was held for five seconds. */
const RECORDED = [
  ...[384, 368, 348, 338, 362, 336, 360, 348, 340, 336],
  ...[40, 36, 40, 40, 35, 313],
  ...[360, 376, 360, 352, 344, 352, 360, 344, 357, 387],
];
const CALM = RECORDED.slice(0, 10);

/** Numbers from -1 to 1 that look random, the same in each run. */
function* noise(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (1103515245 * state + 12345) % 2 ** 31;
    yield (2 * state) / 2 ** 31 - 1;
  }
}

describe("a dip of operations", () => {
  it("is a rate far below its level, for some seconds", () => {
    const [dip, ...others] = dipsOf(pointsOf(RECORDED));
    expect(others).toEqual([]);
    expect(dip).toMatchObject({ t0_s: 9, t1_s: 14, level: 348, rate: 38.2, over: true });
  });

  it("goes on while the rate is low", () => {
    expect(dipsOf(pointsOf(RECORDED.slice(0, 13)))).toMatchObject([{ t0_s: 9, over: false }]);
  });

  it("is none of a second, or of a third less", () => {
    expect(dipsOf(pointsOf([...CALM, 0, ...CALM]))).toEqual([]);
    expect(dipsOf(pointsOf([...CALM, 240, 240, 240, ...CALM]))).toEqual([]);
  });

  it("needs a level: not at the start, nor where it is low as long", () => {
    expect(dipsOf(pointsOf([0, 0, 0, 0, ...CALM]))).toEqual([]);
    expect(dipsOf(pointsOf([...CALM, 0, 0, 0, 0, 0, 0, 0]))).toEqual([]);
  });

  it("is none of rates that scatter, or of few operations", () => {
    const random = noise(7);
    const next = () => random.next().value as number;
    const scattered = Array.from({ length: 600 }, () => 400 * (1 + 0.6 * next()));
    for (let at = 0; at < 540; at += 10) {
      expect(dipsOf(pointsOf(scattered.slice(at, at + 60)))).toEqual([]);
    }
    const few = Array.from({ length: 600 }, () => Math.round(2 + 2 * next()));
    for (let at = 0; at < 540; at += 10) {
      expect(dipsOf(pointsOf(few.slice(at, at + 60)))).toEqual([]);
    }
  });
});

/** A pool of four that finishes 360 jobs a second, but 40 from 20 s to 26 s after attach. */
function dipping(seconds: number, wait_ns: (dip_s: number) => number) {
  const dipOf = (t_s: number) => Math.min(6, Math.max(0, t_s - 20));
  const known = 1 << 5; // "finished"
  return factModel(
    ["job-1", "job-2", "job-3", "job-4"],
    Array.from({ length: seconds + 1 }, (_, t_s) => ({
      t_s,
      facts: {
        pools: [
          {
            ...{ pool: 1, name: "requests", source: "agent", read_ns: Math.max(1, t_s * 1e9) },
            ...{ known, finished: 360 * t_s - 320 * dipOf(t_s) },
          },
        ],
        locks: [1, 2, 3, 4].map((tid) => ({
          ...{ lock: 5, tid, wait_ns: wait_ns(dipOf(t_s)), waits: t_s, wakes: t_s },
        })),
        ...(t_s === 0 && { lock_names: [{ lock: 5, name: "journal", kind: "lock" }] }),
      },
    })),
  );
}

describe("the finding", () => {
  it("says when, how deep, and what stood out meanwhile", () => {
    const model = dipping(50, (dip_s) => 9e8 * dip_s);
    const { findings, looked_at } = finished(new FindingsMaker().make(factInput(model)));
    expect(findings[0]).toMatchObject({
      text: "Operations of pool requests fell by 88.9 %, from 360 to 40.0 a second.",
      also: "meanwhile 4 threads waited 90.0 % of the time for one lock, “journal”",
      when: { t0_s: 20, t1_s: 26, over: true, more: 0 },
    });
    expect(looked_at).toContain("dips of operations");
  });

  it("names a size that went down as it began", () => {
    const model = dipping(50, (dip_s) => 9e8 * dip_s);
    model.sizes.note(0, 8);
    model.sizes.note(20, 2);
    const { findings } = finished(new FindingsMaker().make(factInput(model)));
    expect(findings[0]?.also).toBe("meanwhile GOMAXPROCS went from 8 to 2");
  });

  it("blames nobody whose figures are as before", () => {
    const model = dipping(50, () => 0);
    const { findings } = finished(new FindingsMaker().make(factInput(model)));
    expect(findings.map(({ also }) => also)).toEqual([
      "nothing else that was looked at changed as much",
    ]);
  });
});
