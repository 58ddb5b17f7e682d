/** A thread and a window named by an address: the link between traces and thread activity. */

export interface Moment {
  /** Thread ID, or null for the process as a whole. */
  readonly tid: number | null;
  /** Unix ms. */
  readonly from_ms: number;
  readonly to_ms: number;
}

/** Parse a query; null if it names no moment. */
export function parseMoment(query: string): Moment | null {
  const given = new URLSearchParams(query);
  const number = (name: string) => Number(given.get(name) ?? Number.NaN);
  const [from_ms, to_ms, tid] = [number("from"), number("to"), number("tid")];
  if (!(from_ms > 0 && to_ms > from_ms)) return null;
  return { tid: Number.isInteger(tid) && tid > 0 ? tid : null, from_ms, to_ms };
}

/** An address of a target or a run, at a moment. */
export function momentHref(href: string, { tid, from_ms, to_ms }: Moment): string {
  const query = new URLSearchParams({ from: String(from_ms), to: String(to_ms) });
  if (tid !== null) query.set("tid", String(tid));
  return `${href}${href.includes("?") ? "&" : "?"}${query}`;
}

/**
 * Address of the Traces page for requests in a window that waited for a process or one of its
 * threads.
 */
export function requestsHref(pid: number | null, { tid, from_ms, to_ms }: Moment): string {
  const at = (ms: number) => String(Math.round(ms));
  const query = new URLSearchParams({ since: at(from_ms), until: at(to_ms) });
  if (pid !== null) query.set("pid", String(pid));
  if (tid !== null) query.set("tid", String(tid));
  return `/traces?${query}`;
}
