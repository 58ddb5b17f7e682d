/**
 * Goroutines of Go programs within the visible window: how many wait for what, and where in the
 * code. By readings of the programs' own profiles, between which a goroutine counts as it did at
 * the end.
 */

import type { ViewInput } from "./chartView";
import { GOROUTINES, GOROUTINE_STACKS as NAMES } from "./facts/facts";
import type { FactWindow } from "./facts/factTable";
import { isGo } from "./parked";

/**
 * blocked: someone has what they need. idle: they wait by nature. runs: they run, could run, or are
 * in a system call. unknown: for work, an answer, or someone.
 */
export type GoroutineKind = "blocked" | "idle" | "unknown" | "runs";

/** A function on a goroutine's stack. */
export interface GoroutineFrame {
  readonly function: string;
  readonly file: string;
  readonly line: number;
}

/** Goroutines with one stack. */
export interface GoroutineStack {
  readonly pid: number;
  /** Reason of the wait in words of Go's runtime; "running" or "system call". */
  readonly reason: string;
  /** Innermost function of the program's own code. */
  readonly place: GoroutineFrame;
  /** Innermost first. */
  readonly frames: readonly GoroutineFrame[];
  /** Number on average; NaN before the second reading. */
  readonly mean: number;
  /** Number at the last reading. */
  readonly now: number;
}

/** Goroutines that wait for one thing in one place. */
export interface GoroutineRow extends Omit<GoroutineStack, "frames"> {
  readonly key: string;
  readonly kind: GoroutineKind;
  /** Their process in a group; "" otherwise. */
  readonly process: string;
  readonly stacks: readonly GoroutineStack[];
}

export interface GoroutinesView {
  /** unread: no profile was read. absent: it is not a Go program. */
  readonly state: "ok" | "waiting" | "unread" | "absent";
  /** Seconds that the readings stand for, of the process with the most. */
  readonly seconds: number;
  /** All goroutines, on average. */
  readonly all: number;
  /** Most goroutines first. */
  readonly rows: readonly GoroutineRow[];
}

const KINDS: Readonly<Record<string, GoroutineKind>> = {
  "chan send": "blocked",
  "sync.Mutex.Lock": "blocked",
  "sync.RWMutex.Lock": "blocked",
  "sync.RWMutex.RLock": "blocked",
  "semaphore.Acquire": "blocked",
  "database/sql connection": "blocked",
  sleep: "idle",
  "select (no cases)": "idle",
  running: "runs",
  "system call": "runs",
};

const ALL = "all";

export function goroutinesView(input: ViewInput): GoroutinesView {
  const { model, span, now_s } = input;
  const { goroutines, goroutine_stacks } = model.facts;
  const window = goroutines.window(span.t0_s, Math.min(span.t1_s, now_s));
  const names = new Map<number, number>();
  for (const slot of goroutine_stacks.all()) {
    names.set(goroutine_stacks.key(slot, NAMES.stack), slot);
  }
  if (names.size === 0) {
    return { ...NONE, state: isGo(model, Math.min(span.t1_s, now_s)) ? "unread" : "absent" };
  }
  const covered = coveredOf(input, window, names);
  const stacks: GoroutineStack[] = [];
  let all = 0;
  for (const slot of goroutines.all()) {
    const named = names.get(goroutines.key(slot, GOROUTINES.stack));
    if (named === undefined) continue;
    const pid = goroutine_stacks.fact(named, NAMES.pid);
    const ns = goroutines.grown(window, slot, GOROUTINES.goroutine_ns);
    const mean = ns / (covered.get(pid) ?? 0);
    const reason = goroutine_stacks.text(named, NAMES.reason);
    const now = goroutines.fact(slot, GOROUTINES.count);
    if (reason === ALL) {
      all += Number.isFinite(mean) ? mean : 0;
      continue;
    }
    if (!(mean > 0)) continue;
    stacks.push({
      ...{ pid, reason, mean, now },
      place: {
        function: goroutine_stacks.text(named, NAMES.function),
        file: goroutine_stacks.text(named, NAMES.file),
        line: goroutine_stacks.fact(named, NAMES.line),
      },
      frames: framesFrom(goroutine_stacks.text(named, NAMES.frames)),
    });
  }
  const seconds = Math.max(0, ...covered.values()) / 1e9;
  const rows = rowsOf(input, stacks);
  return { state: seconds > 0 ? "ok" : "waiting", seconds, all, rows };
}

const NONE: Omit<GoroutinesView, "state"> = { seconds: 0, all: 0, rows: [] };

/** Time that readings of each process stand for, in ns by process ID. */
function coveredOf(
  { model }: ViewInput,
  window: FactWindow,
  names: ReadonlyMap<number, number>,
): ReadonlyMap<number, number> {
  const { goroutines, goroutine_stacks } = model.facts;
  const covered = new Map<number, number>();
  for (const slot of goroutines.all()) {
    const ns = goroutines.grown(window, slot, GOROUTINES.covered_ns);
    const named = names.get(goroutines.key(slot, GOROUTINES.stack));
    if (ns > 0 && named !== undefined) covered.set(goroutine_stacks.fact(named, NAMES.pid), ns);
  }
  return covered;
}

function framesFrom(text: string): readonly GoroutineFrame[] {
  if (text === "") return [];
  return text.split("\n").map((line) => {
    const [name = "", file = "", at = "0"] = line.split("\t");
    return { function: name, file, line: Number(at) };
  });
}

function rowsOf({ model }: ViewInput, stacks: readonly GoroutineStack[]): readonly GoroutineRow[] {
  const places = new Map<string, GoroutineStack[]>();
  for (const stack of stacks) {
    const { pid, reason, place } = stack;
    const key = `${pid} ${reason} ${place.function}:${place.line}`;
    const held = places.get(key);
    if (held) held.push(stack);
    else places.set(key, [stack]);
  }
  const processes = new Map<number, string>();
  if (model.levels.grouped) {
    for (const { pid, name } of model.processes.rows.values()) {
      if (pid !== 0) processes.set(pid, `${name} (${pid})`);
    }
  }
  const rows = Array.from(places, ([key, own]): GoroutineRow => {
    own.sort((a, b) => b.mean - a.mean);
    const [{ pid, reason, place } = EMPTY] = own;
    return {
      ...{ key, pid, reason, place },
      kind: KINDS[reason] ?? "unknown",
      process: processes.get(pid) ?? "",
      mean: own.reduce((sum, each) => sum + each.mean, 0),
      now: own.reduce((sum, each) => sum + each.now, 0),
      stacks: own,
    };
  });
  return rows.sort((a, b) => b.mean - a.mean || (a.key < b.key ? -1 : 1));
}

const EMPTY = { pid: 0, reason: "", place: { function: "", file: "", line: 0 } };

/** "serve.go:41"; "" if unknown. */
export function placeText(frame: GoroutineFrame | undefined): string {
  if (frame === undefined || frame.file === "") return "";
  return `${frame.file.slice(frame.file.lastIndexOf("/") + 1)}:${frame.line}`;
}

/** A function with its place: "main.serve (serve.go:41)". */
export function codeText(frame: GoroutineFrame): string {
  const place = placeText(frame);
  return place === "" ? frame.function : `${frame.function} (${place})`;
}
