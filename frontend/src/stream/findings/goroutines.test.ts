import { describe, expect, it } from "vitest";
import { NOTHING, texts } from "../../testing/evidence";
import { type FactInstant, factInput, factModel } from "../../testing/factModel";
import { goroutinesView } from "../goroutines";
import type { Evidence } from "./finding";
import { GOROUTINE_RULE } from "./goroutines";

const LOCK = "sync.Mutex.Lock";
/** Number of the row of all goroutines. */
const ALL = 99;
/** Stacks by number: reason and functions, the innermost first, with their lines. */
type Stacks = Readonly<Record<number, readonly [string, ...(readonly [string, number])[]]>>;

/** A Go program of which some goroutines have each stack, read every 2 s for 10 s. */
function program(stacks: Stacks, counts: (t_s: number) => Readonly<Record<number, number>>) {
  const sums = new Map<number, number>();
  const instants = [0, 2, 4, 6, 8, 10].map((t_s): FactInstant => {
    const own = counts(t_s);
    const all = Object.values(own).reduce((sum, count) => sum + count, 0);
    const rows = Object.entries({ ...own, [ALL]: all }).map(([stack, count]) => {
      const ns = (sums.get(Number(stack)) ?? 0) + (t_s > 0 ? 2e9 * count : 0);
      sums.set(Number(stack), ns);
      const covered_ns = Number(stack) === ALL ? t_s * 1e9 : 0;
      return { stack: Number(stack), count, goroutine_ns: ns, covered_ns };
    });
    return { t_s, facts: { goroutines: rows, ...(t_s === 0 && named(stacks)) } };
  });
  return factModel(["main"], instants);
}

function named(stacks: Stacks) {
  const rows = Object.entries(stacks).map(([stack, [reason, ...frames]]) => {
    const [name, line] = frames.find(([each]) => each.startsWith("main.")) ?? ["", 0];
    const text = frames.map(([each, at]) => `${each}\t/src/main.go\t${at}`).join("\n");
    const place = { function: name, file: "/src/main.go", line };
    return { stack: Number(stack), pid: 100, reason, ...place, frames: text };
  });
  const all = { stack: ALL, pid: 100, reason: "all", function: "", file: "", line: 0, frames: "" };
  return { goroutine_stacks: [...rows, all] };
}

const FULL: Stacks = {
  1: ["chan send", ["runtime.gopark", 1], ["main.serve", 58], ["main.start.func1", 9]],
  2: ["sleep", ["runtime.gopark", 1], ["time.Sleep", 2], ["main.serve", 59]],
  3: ["running", ["main.serve", 60]],
  4: ["select", ["runtime.gopark", 1], ["main.other", 5]],
};

function said(
  stacks: Stacks,
  counts: (t_s: number) => Readonly<Record<number, number>>,
  shown: readonly string[] = [],
): readonly string[] {
  const goroutines = goroutinesView(factInput(program(stacks, counts)));
  return texts(GOROUTINE_RULE, { goroutines }, shown);
}

describe("a full semaphore of a Go program", () => {
  it("is named with its code, and with what those do that have a place", () => {
    expect(said(FULL, () => ({ 1: 40, 2: 2, 4: 70 }))).toEqual([
      "40 goroutines wait for a place in a channel (chan send), in main.serve (main.go:58); " +
        "the 2 past it are mostly asleep, in main.serve (main.go:59).",
    ]);
  });

  it("counts goroutines on average over the readings", () => {
    const model = program(FULL, (t_s) => ({ 1: t_s, 2: 2, 3: 1 }));
    const view = goroutinesView(factInput(model));
    expect(view).toMatchObject({ state: "ok", seconds: 10, all: 9 });
    expect(view.rows.map(({ reason, mean, now }) => [reason, mean, now])).toEqual([
      ["chan send", 6, 10],
      ["sleep", 2, 2],
      ["running", 1, 1],
    ]);
  });

  it("is none where few wait, or wait by nature", () => {
    expect(said(FULL, () => ({ 1: 1, 2: 2, 4: 500 }))).toEqual([]);
    const idle: Stacks = {
      1: ["chan receive", ["main.worker", 3]],
      2: ["sync.Cond.Wait", ["main.worker", 4]],
      3: ["IO wait", ["net/http.(*conn).serve", 5]],
    };
    expect(said(idle, () => ({ 1: 500, 2: 500, 3: 500 }))).toEqual([]);
  });

  it("stays while it is little below its threshold", () => {
    // Over 10 s the threshold is 2.6: one reading may be chance.
    const counts = (last: number) => (t_s: number) => ({ 1: t_s === 10 ? last : 3, 2: 2 });
    expect(said(FULL, counts(3))).toHaveLength(1);
    expect(said(FULL, counts(0))).toEqual([]);
    const id = "goroutines:100 chan send main.serve:58";
    expect(said(FULL, counts(0), [id])).toHaveLength(1);
    expect(said(FULL, () => ({ 1: 2, 2: 2 }), [id])).toEqual([]);
  });
});

describe("other waits for each other", () => {
  it("have their words", () => {
    const each: Stacks = {
      1: [LOCK, ["sync.(*Mutex).Lock", 1], ["main.put", 3]],
      2: ["semaphore.Acquire", ["main.get", 4]],
      3: ["database/sql connection", ["main.query", 5]],
      4: ["sync.RWMutex.RLock", ["main.look", 6]],
    };
    expect(said(each, () => ({ 1: 9, 2: 8, 3: 7, 4: 6 }))).toEqual([
      "9 goroutines wait for a sync.Mutex, in main.put (main.go:3).",
      "8 goroutines wait for a semaphore (golang.org/x/sync), in main.get (main.go:4).",
      "7 goroutines wait for a free connection (database/sql), in main.query (main.go:5).",
      "6 goroutines wait for a sync.RWMutex, in main.look (main.go:6).",
    ]);
  });

  it("are past it in a caller of the package, and nowhere else", () => {
    const wrapped: Stacks = {
      1: ["chan send", ["main.take", 3], ["main.handle", 8], ["net/http.serve", 1]],
      2: ["IO wait", ["net/http.Get", 7], ["main.fetch", 4], ["main.handle", 9]],
      3: ["IO wait", ["net/http.serve", 2]],
    };
    expect(said(wrapped, () => ({ 1: 9, 2: 1, 3: 50 }))).toEqual([
      "9 goroutines wait for a place in a channel (chan send), in main.take (main.go:3); " +
        "the one past it is mostly in net/http.Get, called by main.fetch (main.go:4).",
    ]);
    expect(said(wrapped, () => ({ 1: 9, 3: 50 }))).toHaveLength(1);
  });
});

describe("goroutines that are not known", () => {
  const lacks = (state: Evidence["goroutines"]["state"]) =>
    GOROUTINE_RULE.lacks?.({ ...NOTHING, goroutines: { ...NOTHING.goroutines, state } });

  it("are said to be that, of Go programs only", () => {
    expect(lacks("absent")).toBeNull();
    expect(lacks("ok")).toBe("");
    expect(lacks("unread")).toContain("--ask-programs");
  });

  it("are those of a program without a profile", () => {
    const states = [{}, { gomaxprocs: 4 }].map((process) => {
      const model = factModel(
        ["a"],
        [
          { t_s: 0, process },
          { t_s: 8, process, counters: [{}] },
        ],
      );
      return goroutinesView(factInput(model)).state;
    });
    expect(states).toEqual(["absent", "unread"]);
  });
});
