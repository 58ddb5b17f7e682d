/** Waiting of goroutines for what other goroutines have: places, locks, connections. */

import { formatDuration } from "../format";
import { codeText, type GoroutineRow, type GoroutinesView } from "../goroutines";
import { type Finding, measured, type Rule } from "./finding";

/** Minimum goroutines that wait in one place, on average over many readings. */
const WAITERS = 2;
/** Extra threshold for few readings, in goroutine-seconds: one reading may be chance. */
const CHANCE_S = 6;

/** Words for a wait, and what to try, by reason. */
const WORDS: Readonly<Record<string, readonly [string, string]>> = {
  "chan send": [
    "a place in a channel (chan send)",
    "Allow more at a time, need the place for less time, or refuse work earlier. If nobody receives, they leak.",
  ],
  "semaphore.Acquire": [
    "a semaphore (golang.org/x/sync)",
    "Allow more at a time, or need it for less time.",
  ],
  "database/sql connection": [
    "a free connection (database/sql)",
    "Raise SetMaxOpenConns, or end rows and transactions sooner.",
  ],
};
const LOCK_ADVICE = "Hold it for less time, or divide what it protects.";

export const GOROUTINE_RULE: Rule = {
  subject: "goroutines",
  ledger: false,
  lacks: ({ goroutines: { state } }) => {
    if (state === "absent") return null;
    return state === "ok" ? "" : UNREAD;
  },
  find: ({ goroutines }, ease) => {
    const { state, seconds, rows } = goroutines;
    if (state !== "ok") return [];
    const least = WAITERS + CHANCE_S / seconds;
    return rows.flatMap((row) => {
      const id = `goroutines:${row.key}`;
      const held = row.kind === "blocked" && row.mean >= ease(id) * least;
      return held ? [{ id, ...findingOf(row, goroutines) }] : [];
    });
  },
};

/** Why goroutines of a Go program are not known. */
const UNREAD = "tidscope reads them with --ask-programs, where a Go program serves net/http/pprof";

function findingOf(row: GoroutineRow, view: GoroutinesView): Omit<Finding, "id"> {
  const { reason, mean, now, place, process } = row;
  // "sync.Mutex.Lock" is a wait for a sync.Mutex.
  const [what, advice] = WORDS[reason] ?? [`a ${reason.replace(/\.R?Lock$/, "")}`, LOCK_ADVICE];
  const of = process === "" ? "" : ` of ${process}`;
  return {
    text: `${Math.round(mean)} goroutines${of} wait for ${what}, in ${codeText(place)}.`,
    also: beyondText(row, view.rows),
    numbers: [
      measured(mean, "count", "goroutines wait there on average"),
      measured(now, "count", "at the last reading"),
      measured(view.all, "count", "goroutines in all"),
    ],
    evidence: `Over ${formatDuration(view.seconds)} of the program's own profiles. Threshold: ${WAITERS}, and up to 4 for one reading.`,
    advice,
    confidence: reason === "chan send" ? "likely" : "measured",
    link: { panel: "goroutines" },
    weight: mean,
  };
}

const DOING: Readonly<Record<string, string>> = {
  sleep: "asleep",
  running: "running",
  "system call": "in a system call",
  "IO wait": "waiting for I/O",
};

/** Main activity of goroutines beyond the place at which the others wait; "" if unknown. */
function beyondText(row: GoroutineRow, rows: readonly GoroutineRow[]): string {
  const past = beyond(row, rows);
  if (past.length === 0) return "";
  const mean = past.reduce((sum, each) => sum + each.mean, 0);
  const most = past.reduce((a, b) => (b.mean > a.mean ? b : a));
  const n = Math.max(1, Math.round(mean));
  const who = n === 1 ? "the one past it is" : `the ${n} past it are`;
  return `${who} mostly ${doingOf(most)} ${codeText(most.place)}`;
}

/** Activity of goroutines, before the code: "asleep, in", or "in os.(*File).Sync, called by". */
function doingOf({ reason, place, stacks }: GoroutineRow): string {
  const frames = stacks[0]?.frames ?? [];
  const at = frames.findIndex((frame) => frame.function === place.function);
  const called = frames[at - 1];
  if (called !== undefined && CALLS.includes(reason)) return `in ${called.function}, called by`;
  return `${DOING[reason] ?? `waiting (${reason})`}, in`;
}

/** Reasons that the function which the program calls explains better. */
const CALLS = ["system call", "IO wait"];

/**
 * Goroutines that are in the function that waits, or in one of its callers within the package, and
 * do not wait for someone there.
 */
function beyond(
  { pid, place, stacks }: GoroutineRow,
  rows: readonly GoroutineRow[],
): readonly GoroutineRow[] {
  const frames = stacks[0]?.frames ?? [];
  const own = packageOf(place.function);
  const first = frames.findIndex((frame) => frame.function === place.function);
  for (const { function: name } of first < 0 ? [] : frames.slice(first)) {
    if (packageOf(name) !== own) return [];
    const past = rows.flatMap((row): readonly GoroutineRow[] => {
      if (row.pid !== pid || row.kind === "blocked") return [];
      const there = row.stacks.filter((stack) => stack.frames.some((f) => f.function === name));
      const mean = there.reduce((sum, each) => sum + each.mean, 0);
      return mean > 0 ? [{ ...row, mean }] : [];
    });
    if (past.length > 0) return past;
  }
  return [];
}

/** Package of a function: "a.b/c" of "a.b/c.(*T).f". */
function packageOf(name: string): string {
  const from = name.lastIndexOf("/") + 1;
  const dot = name.indexOf(".", from);
  return dot < 0 ? name : name.slice(0, dot);
}
