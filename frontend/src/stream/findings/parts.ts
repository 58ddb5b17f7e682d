/**
 * Parts of the window. The rules are applied to each part as to the whole window, so that a cause
 * that holds for a while only is found, with its time. Parts are cells of a grid that stands still:
 * each is evaluated once.
 */

import type { ViewInput } from "../chartView";
import type { Steps } from "../steps";
import type { Span } from "../window";
import { evidenceSteps } from "./evidence";
import { EASE, type Finding, type Rule, type When } from "./finding";

/** Lengths of a part in seconds: the shortest of which the window has at most MAX_PARTS. */
const LENGTHS_S = [5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200];
const MAX_PARTS = 12;
/** With fewer parts the window as a whole tells as much. */
const MIN_PARTS = 3;
/** Tables are read about once a second: a part is complete so long after its end, in seconds. */
const SETTLED_S = 1;
/** A finding holds for the whole window if it holds for so much of it, or for all parts but one. */
const WHOLE = 0.8;
/**
 * Guards against chance for a finding that the whole window does not have: minimum parts of a
 * stretch, and a factor on thresholds in one of them.
 */
const STRETCH = 2;
const STRONG = 1.2;
/** Maximum stretches evaluated as a whole, for the figures of their findings. */
const MAX_STRETCHES = 3;

/** IDs of findings of a part: far above their thresholds, above them, and above the eased ones. */
export interface PartFindings {
  readonly strong: ReadonlySet<string>;
  readonly clear: ReadonlySet<string>;
  readonly eased: ReadonlySet<string>;
}

/** Parts of a window in which a finding holds, by index; `to` is included. */
export interface Stretch {
  readonly from: number;
  readonly to: number;
}

interface Part extends Span {
  readonly found: PartFindings;
}

/** The complete parts of a window, on a grid of round clock times. */
export function partsOf({ model, span, now_s, target }: ViewInput): readonly Span[] {
  const t0_s = Math.max(span.t0_s, model.since_s);
  const t1_s = Math.min(span.t1_s, now_s - SETTLED_S);
  const length = LENGTHS_S.find((each) => (span.t1_s - span.t0_s) / each <= MAX_PARTS);
  if (length === undefined || !(t1_s > t0_s)) return [];
  const zero_s = (target?.attached_unix_us ?? 0) / 1e6;
  const parts: Span[] = [];
  for (let cell = Math.ceil((t0_s + zero_s) / length - 1e-9); ; cell++) {
    const from_s = cell * length - zero_s;
    if (from_s + length > t1_s) break;
    parts.push({ t0_s: from_s, t1_s: from_s + length });
  }
  return parts.length < MIN_PARTS ? [] : parts;
}

/**
 * Stretches of parts in which a finding holds, by its ID: clearly in one part at least, and in the
 * others at least at the eased threshold. One part without it does not end a stretch.
 * @param whole IDs of findings of the whole window.
 */
export function stretchesOf(
  parts: readonly PartFindings[],
  whole: ReadonlySet<string>,
): ReadonlyMap<string, readonly Stretch[]> {
  const all = new Map<string, readonly Stretch[]>();
  for (const id of new Set(parts.flatMap(({ clear }) => [...clear]))) {
    const holds = parts.flatMap(({ eased }, at) => (eased.has(id) ? [at] : []));
    const stretches: Stretch[] = [];
    for (const at of holds) {
      const last = stretches.at(-1);
      if (last && at - last.to <= 2) stretches[stretches.length - 1] = { ...last, to: at };
      else stretches.push({ from: at, to: at });
    }
    const certain = stretches.filter(({ from, to }) =>
      whole.has(id)
        ? parts.slice(from, to + 1).some(({ clear }) => clear.has(id))
        : holds.filter((at) => at >= from && at <= to).length >= STRETCH &&
          parts.slice(from, to + 1).some(({ strong }) => strong.has(id)),
    );
    if (certain.length > 0) all.set(id, certain);
  }
  return all;
}

/** When a finding holds; null if that is the whole window. */
export function whenOf(stretches: readonly Stretch[], parts: readonly Span[]): When | null {
  const held = stretches.reduce((sum, { from, to }) => sum + to - from + 1, 0);
  if (held >= Math.min(WHOLE * parts.length, parts.length - 1)) return null;
  const longest = stretches.reduce((a, b) => (b.to - b.from >= a.to - a.from ? b : a));
  return {
    t0_s: parts[longest.from]?.t0_s ?? Number.NaN,
    t1_s: parts[longest.to]?.t1_s ?? Number.NaN,
    began: longest.from > 0,
    over: longest.to < parts.length - 1,
    more: stretches.length - 1,
  };
}

export class PartFinder {
  /** Complete parts by their span. */
  private parts = new Map<string, PartFindings>();
  /** Findings of stretches as a whole, by their span. */
  private stretches = new Map<string, readonly Finding[]>();

  /**
   * Findings that hold for a part of the window only, with the figures of that time.
   * @param whole Findings of the whole window.
   */
  *find(
    input: ViewInput,
    rules: readonly Rule[],
    whole: readonly Finding[],
  ): Steps<readonly Finding[]> {
    const judged = rules.filter(({ whole }) => whole !== true);
    const parts = yield* this.evaluated(input, judged);
    const known = new Set(whole.map(({ id }) => id));
    const timed = [
      ...stretchesOf(
        parts.map(({ found }) => found),
        known,
      ),
    ].flatMap(([id, stretches]) => {
      const when = whenOf(stretches, parts);
      return when ? [{ id, when }] : [];
    });
    // Findings of the whole window come first, then the longest ones.
    timed.sort(
      (a, b) =>
        Number(known.has(b.id)) - Number(known.has(a.id)) || secondsOf(b.when) - secondsOf(a.when),
    );
    const before = this.stretches;
    this.stretches = new Map();
    const found: Finding[] = [];
    for (const { id, when } of timed) {
      const key = keyOf(when);
      let all = this.stretches.get(key) ?? before.get(key);
      if (!all) {
        if (this.stretches.size >= MAX_STRETCHES) continue;
        const evidence = yield* evidenceSteps({ ...input, span: when });
        all = judged.flatMap((rule) => rule.find(evidence, () => EASE));
      }
      this.stretches.set(key, all);
      const own = all.find((each) => each.id === id);
      const share = secondsOf(when) / secondsOf(input.span);
      if (own) found.push({ ...own, when, weight: own.weight * share });
    }
    return found;
  }

  /** The window's parts with their findings; those that were evaluated before are not again. */
  private *evaluated(input: ViewInput, rules: readonly Rule[]): Steps<readonly Part[]> {
    const before = this.parts;
    const all: Part[] = [];
    this.parts = new Map(before);
    for (const span of partsOf(input)) {
      const key = keyOf(span);
      let found = before.get(key);
      if (!found) {
        const evidence = yield* evidenceSteps({ ...input, span });
        const ids = (ease: number) =>
          new Set(rules.flatMap((rule) => rule.find(evidence, () => ease).map(({ id }) => id)));
        found = { strong: ids(STRONG), clear: ids(1), eased: ids(EASE) };
        this.parts.set(key, found);
      }
      all.push({ ...span, found });
    }
    this.parts = new Map(all.map((part) => [keyOf(part), part.found]));
    return all;
  }
}

function keyOf({ t0_s, t1_s }: Span): string {
  return `${t0_s.toFixed(3)}:${t1_s.toFixed(3)}`;
}

function secondsOf({ t0_s, t1_s }: Span): number {
  return t1_s - t0_s;
}
