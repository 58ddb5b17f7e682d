/** The state of the Hosts page, which its address holds. Pure. */

export const HOST_VIEWS = ["wall", "across", "compare"] as const;
export type HostsView = (typeof HOST_VIEWS)[number];

export interface HostsLink {
  readonly view: HostsView;
  /** Search for hosts; see hostSearch.ts. */
  readonly search: string;
  /** Label that groups the hosts of the wall; "" for none, null for the page's choice. */
  readonly group: string | null;
  /** Length of a window that ends now, in minutes; ignored with `since_ms`. */
  readonly last_min: number;
  /** Fixed window, Unix ms; null: the window ends now. */
  readonly since_ms: number | null;
  readonly until_ms: number | null;
  /** Name of a process; null for all, or while none is chosen. */
  readonly program: string | null;
  /** Role; "" for the roles beyond the first 63, null for all. */
  readonly role: string | null;
  readonly counter: string;
  /** Searches for the two sets of hosts; "" for all hosts that are not in the other. */
  readonly first: string;
  readonly other: string;
}

export const LIVE_MIN = 10;
/** Greatest window, in minutes: 32 days. */
const MAX_MIN = 32 * 1440;

export const EMPTY_HOSTS: HostsLink = {
  view: "wall",
  search: "",
  group: null,
  last_min: LIVE_MIN,
  since_ms: null,
  until_ms: null,
  program: null,
  role: null,
  counter: "cpu_delay_ns",
  first: "",
  other: "",
};

/** Read a query; invalid parts are ignored. */
export function parseHostsLink(query: string): HostsLink {
  const given = new URLSearchParams(query);
  const since = timeOf(given.get("since"));
  const until = timeOf(given.get("until"));
  const fixed =
    since !== null && until !== null && until > since && until - since <= MAX_MIN * 60_000;
  const last = given.get("last");
  const counter = given.get("counter") ?? "";
  return {
    view: HOST_VIEWS.find((view) => view === given.get("view")) ?? "wall",
    search: given.get("q") ?? "",
    group: given.get("group"),
    last_min:
      last !== null && /^[1-9][0-9]{0,4}$/.test(last) && Number(last) <= MAX_MIN
        ? Number(last)
        : LIVE_MIN,
    since_ms: fixed ? since : null,
    until_ms: fixed ? until : null,
    program: given.get("program"),
    role: given.get("role"),
    counter: /^[a-z_]{1,64}$/.test(counter) ? counter : EMPTY_HOSTS.counter,
    first: given.get("first") ?? "",
    other: given.get("other") ?? "",
  };
}

/** Address of a state; defaults are left out. */
export function hostsHref(link: HostsLink): string {
  const made = new URLSearchParams();
  const set = (name: string, value: string | number | null, preset: string | number | null) => {
    if (value !== null && value !== preset) made.set(name, String(value));
  };
  set("view", link.view, EMPTY_HOSTS.view);
  set("q", link.search, "");
  set("group", link.group, null);
  if (link.since_ms === null) set("last", link.last_min, LIVE_MIN);
  set("since", link.since_ms, null);
  set("until", link.until_ms, null);
  set("program", link.program, null);
  set("role", link.role, null);
  set("counter", link.counter, EMPTY_HOSTS.counter);
  set("first", link.first, "");
  set("other", link.other, "");
  const query = made.toString();
  return query === "" ? "/hosts" : `/hosts?${query}`;
}

/** True if the window ends now. */
export function isLive(link: HostsLink): boolean {
  return link.since_ms === null;
}

/** Pause between two questions, in ms; null: the window does not move. */
export function periodOf(link: HostsLink): number | null {
  if (!isLive(link)) return null;
  return link.last_min <= 60 ? 10_000 : 60_000;
}

/** The question's window, at a time. */
export function windowQuery(link: HostsLink, now_ms: number): URLSearchParams {
  const made = new URLSearchParams();
  if (link.since_ms !== null && link.until_ms !== null) {
    made.set("since_ms", String(link.since_ms));
    made.set("until_ms", String(link.until_ms));
  } else if (link.last_min !== LIVE_MIN) {
    const step = 10_000;
    const until = (Math.floor(now_ms / step) + 1) * step;
    made.set("since_ms", String(until - link.last_min * 60_000));
    made.set("until_ms", String(until));
  }
  return made;
}

/** Query of `across`. */
export function acrossQuery(link: HostsLink, now_ms: number): string {
  const made = chosen(link, windowQuery(link, now_ms));
  made.set("counter", link.counter);
  return made.toString();
}

/** Query of `compare`. */
export function compareQuery(link: HostsLink, now_ms: number): string {
  const made = chosen(link, windowQuery(link, now_ms));
  made.set("first", link.first);
  made.set("other", link.other);
  return made.toString();
}

function chosen(link: HostsLink, made: URLSearchParams): URLSearchParams {
  if (link.program !== null) made.set("program", link.program);
  if (link.role !== null) made.set("role", link.role);
  return made;
}

function timeOf(text: string | null): number | null {
  return text !== null && /^[0-9]{1,15}$/.test(text) ? Number(text) : null;
}
