import { describe, expect, it } from "vitest";
import { factInput, factModel } from "../../testing/factModel";
import type { ViewInput } from "../chartView";
import { finished } from "../steps";
import { FindingsMaker } from "./findings";
import { type PartFindings, partsOf, stretchesOf, whenOf } from "./parts";

/** Parts by what holds: "#" strongly, "=" clearly, "+" at the eased threshold, "." not. */
function parts(marks: string): PartFindings[] {
  const has = (yes: boolean) => new Set(yes ? ["lock:5"] : []);
  return [...marks].map((mark) => ({
    strong: has(mark === "#"),
    clear: has(mark === "#" || mark === "="),
    eased: has(mark !== "."),
  }));
}

function stretches(marks: string, whole: readonly string[] = []): string[] {
  const found = stretchesOf(parts(marks), new Set(whole)).get("lock:5") ?? [];
  return found.map(({ from, to }) => marks.slice(from, to + 1));
}

describe("stretches of a window", () => {
  it("begin and end with what holds at the eased threshold", () => {
    expect(stretches("...+##+....")).toEqual(["+##+"]);
    expect(stretches("##.......##")).toEqual(["##", "##"]);
  });

  it("go on over one part, and are none of one part, or without a clear one", () => {
    expect(stretches("..##.#....")).toEqual(["##.#"]);
    expect(stretches("..#.......")).toEqual([]);
    expect(stretches("..#.......", ["lock:5"])).toEqual(["#"]);
    expect(stretches("..+==+....")).toEqual([]);
    expect(stretches("..+==+....", ["lock:5"])).toEqual(["+==+"]);
    expect(stretches("..++++....", ["lock:5"])).toEqual([]);
  });

  const spans = Array.from({ length: 12 }, (_, k) => ({ t0_s: 5 * k, t1_s: 5 * k + 5 }));
  const when = (marks: string) =>
    whenOf(stretchesOf(parts(marks), new Set()).get("lock:5") ?? [], spans.slice(0, marks.length));

  it("say when it was, and whether it still is", () => {
    expect(when("..###.......")).toEqual({ t0_s: 10, t1_s: 25, began: true, over: true, more: 0 });
    expect(when("..........##")).toMatchObject({ t0_s: 50, began: true, over: false });
    expect(when("###.........")).toMatchObject({ t1_s: 15, began: false, over: true });
    expect(when("##....##.#..")).toMatchObject({ t0_s: 30, t1_s: 50, more: 1 });
  });

  it("are the whole window with all parts but one, or four of five", () => {
    expect(when("############")).toBeNull();
    expect(when("..##########")).toBeNull();
    expect(when(".##")).toBeNull();
    expect(when("...#########")).toMatchObject({ t0_s: 15, over: false });
  });
});

/** Three workers that wait for a lock from 20 s to 40 s after attach. */
function waiting(until_s: number) {
  const rows = (t_s: number) =>
    [1, 2, 3].map((tid) => {
      const held_s = Math.min(20, Math.max(0, t_s - 20));
      return { lock: 5, tid, wait_ns: 6e8 * held_s, waits: 50 * held_s, wakes: 50 * held_s };
    });
  return factModel(
    ["worker-1", "worker-2", "worker-3"],
    Array.from({ length: until_s + 1 }, (_, t_s) => ({
      t_s,
      facts: {
        locks: rows(t_s),
        ...(t_s === 0 && { lock_names: [{ lock: 5, name: "pool_mu", kind: "lock" }] }),
      },
    })),
  );
}

/** A target that was attached at a round clock time. */
function inputOf(until_s: number): ViewInput {
  const input = factInput(waiting(until_s));
  return { ...input, target: { ...input.target, attached_unix_us: 1_800_000_000_000_000 } };
}

describe("parts", () => {
  it("are cells of five seconds of a minute, and longer in a longer window", () => {
    expect(partsOf(inputOf(60))[0]).toEqual({ t0_s: 0, t1_s: 5 });
    expect(partsOf(inputOf(60))).toHaveLength(11);
    const long = { ...inputOf(60), span: { t0_s: -180, t1_s: 120 }, now_s: 100 };
    expect(partsOf(long)).toEqual([
      { t0_s: 0, t1_s: 30 },
      { t0_s: 30, t1_s: 60 },
      { t0_s: 60, t1_s: 90 },
    ]);
    expect(partsOf({ ...long, now_s: 80 })).toEqual([]);
  });

  it("begin at round clock times", () => {
    const input = inputOf(60);
    const target = input.target && { ...input.target, attached_unix_us: 1_800_000_002_000_000 };
    expect(partsOf({ ...input, target })[0]).toEqual({ t0_s: 3, t1_s: 8 });
  });
});

describe("a finding of a part of the window", () => {
  it("has the figures of that part, and says when it was", () => {
    const view = finished(new FindingsMaker().make(inputOf(60)));
    expect(view.findings).toHaveLength(1);
    expect(view.findings[0]).toMatchObject({
      text: "3 threads waited 60.0 % of the time for one lock, “pool_mu”.",
      when: { t0_s: 20, t1_s: 40, began: true, over: true },
    });
    expect(view.zero_ms).toBe(1_800_000_000_000);
  });

  it("is found where the whole window is below the threshold", () => {
    const input = inputOf(90);
    const maker = new FindingsMaker();
    expect(finished(maker.make(input)).findings[0]?.when).toMatchObject({ t0_s: 30, t1_s: 40 });
  });

  it("still holds at the end", () => {
    const view = finished(new FindingsMaker().make(inputOf(37)));
    expect(view.findings[0]?.when).toMatchObject({ t0_s: 20, over: false });
  });
});
