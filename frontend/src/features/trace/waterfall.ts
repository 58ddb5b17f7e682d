/** One trace as rows of a waterfall: calls, times, and the parts on the critical path. */

import type { TraceDetail, TraceSpan } from "../../wire/generated/models";

/** A part of the trace, as shares of its length, 0 to 1. */
export interface Stretch {
  readonly left: number;
  readonly width: number;
}

export interface WaterfallRow {
  readonly span: TraceSpan;
  /** 1 for a root. */
  readonly depth: number;
  /** Number of spans called by it. */
  readonly calls: number;
  readonly bar: Stretch;
  /** Start relative to the trace's, ns. */
  readonly after_ns: number;
  /** Times in which the trace waits for this span itself. */
  readonly path: readonly Stretch[];
  /** Total length of these times, ns. */
  readonly own_ns: number;
}

export interface Waterfall {
  /** Rows in call order, each below its caller; calls of one caller by start. */
  readonly rows: readonly WaterfallRow[];
  readonly start_ns: number;
  readonly duration_ns: number;
  /** Length of the critical path, ns. */
  readonly path_ns: number;
}

/** The rows of a trace. Spans with a missing caller or a cyclic call become roots. */
export function waterfallOf({ spans, path }: TraceDetail): Waterfall {
  const start_ns = spans.reduce((least, span) => Math.min(least, span.start_ns), Infinity);
  const end_ns = spans.reduce((most, one) => Math.max(most, one.start_ns + one.duration_ns), 0);
  const duration_ns = Math.max(1, end_ns - start_ns);
  const stretch = (from_ns: number, length_ns: number): Stretch => ({
    left: (from_ns - start_ns) / duration_ns,
    width: length_ns / duration_ns,
  });
  const known = new Set(spans.map(({ span_id }) => span_id));
  const calls = new Map<string, TraceSpan[]>();
  for (const span of [...spans].sort((a, b) => a.start_ns - b.start_ns)) {
    const above = known.has(span.parent_id) && span.parent_id !== span.span_id;
    add(calls, above ? span.parent_id : "", span);
  }
  const parts = new Map<string, TraceDetail["path"][number][]>();
  for (const part of path) add(parts, part.span_id, part);

  const rows: WaterfallRow[] = [];
  const seen = new Set<string>();
  const walk = (roots: readonly TraceSpan[]): void => {
    // An explicit stack: traces may be thousands of calls deep.
    const waiting = [...roots].reverse().map((span) => ({ span, depth: 1 }));
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const { span, depth } = next;
      if (seen.has(span.span_id)) continue;
      seen.add(span.span_id);
      const below = calls.get(span.span_id) ?? [];
      const own = parts.get(span.span_id) ?? [];
      rows.push({
        span,
        depth,
        calls: below.length,
        bar: stretch(span.start_ns, span.duration_ns),
        after_ns: span.start_ns - start_ns,
        path: own.map((part) => stretch(part.start_ns, part.end_ns - part.start_ns)),
        own_ns: own.reduce((sum, part) => sum + part.end_ns - part.start_ns, 0),
      });
      for (const child of [...below].reverse()) waiting.push({ span: child, depth: depth + 1 });
    }
  };
  walk(calls.get("") ?? []);
  for (const span of spans) if (!seen.has(span.span_id)) walk([span]);
  return {
    rows,
    start_ns: spans.length === 0 ? 0 : start_ns,
    duration_ns: spans.length === 0 ? 0 : end_ns - start_ns,
    path_ns: path.reduce((sum, part) => sum + part.end_ns - part.start_ns, 0),
  };
}

function add<T>(lists: Map<string, T[]>, key: string, item: T): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}

/** Visible rows: without descendants of folded rows. */
export function unfolded(
  rows: readonly WaterfallRow[],
  folded: ReadonlySet<string>,
): readonly WaterfallRow[] {
  let hidden = Infinity;
  return rows.filter(({ span, depth }) => {
    if (depth > hidden) return false;
    hidden = folded.has(span.span_id) ? depth : Infinity;
    return true;
  });
}

/** Spans that are off the critical path, and call no span on it. */
export function besidePath(rows: readonly WaterfallRow[]): ReadonlySet<string> {
  const leads = new Set<number>();
  const open: number[] = [];
  for (const [at, row] of rows.entries()) {
    while (open.length > 0 && (rows[open.at(-1) ?? 0]?.depth ?? 0) >= row.depth) open.pop();
    open.push(at);
    if (row.path.length === 0) continue;
    for (let above = open.length - 1; above >= 0 && !leads.has(open[above] ?? 0); above--) {
      leads.add(open[above] ?? 0);
    }
  }
  const beside = rows.filter((_, at) => !leads.has(at));
  return new Set(beside.map(({ span }) => span.span_id));
}
