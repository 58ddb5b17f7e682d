/** The state of the Traces page, which its address holds. Pure. */

/** Pattern of a run ID. */
const RUN = /^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$/;

export const TRACE_VIEWS = [
  "flame",
  "difference",
  "heat",
  "operations",
  "days",
  "errors",
  "requests",
] as const;
export type TracesView = (typeof TRACE_VIEWS)[number];

export const HEAT_METRICS = ["exclusive", "inclusive"] as const;
export type HeatMetric = (typeof HEAT_METRICS)[number];
export const HEAT_RANKS = ["P50", "P95", "P99"] as const;
export type HeatRank = (typeof HEAT_RANKS)[number];

/** A set of an endpoint's traces. */
export interface TraceSetLink {
  /** Start of the trace, Unix ms; null for no limit. */
  readonly since_ms: number | null;
  readonly until_ms: number | null;
  /** Percentiles of the endpoint's latency, 0 to 100. */
  readonly low: number;
  readonly high: number;
  /** KEY=VALUE of an attribute of any of its spans; "" for no restriction. */
  readonly tag: string;
  /**
   * A run that was recording at the start, with a span of the run's processes; "" for no
   * restriction.
   */
  readonly run: string;
}

export interface TracesLink extends TraceSetLink {
  /** Service; "" while no endpoint is chosen. */
  readonly service: string;
  readonly operation: string;
  readonly view: TracesView;
  /** Names of the calls to the zoomed row of the flame graph, from the root on. */
  readonly zoom: readonly string[];
  readonly search: string;
  /** Operations excluded from critical paths: their time counts as their callers'. */
  readonly exclude: readonly string[];
  /** The two sets of the difference; null if not chosen yet. */
  readonly base: TraceSetLink | null;
  readonly other: TraceSetLink | null;
  /** Reference traces for anomalies; null: the others of the set. */
  readonly reference: TraceSetLink | null;
  /** Count each root of the endpoint in a trace, not only the first. */
  readonly everyRoot: boolean;
  /** Operation to project, "SERVICE OPERATION"; "" for none. */
  readonly project: string;
  readonly less_ms: number;
  /** Attribute that divides this operation's own time; "" for the one that divides it best. */
  readonly attribute: string;
  /** Times in the heat map's cells: an operation's own, or with what it calls. */
  readonly heatMetric: HeatMetric;
  /** Percentile of a row that orders the heat map. */
  readonly heatRank: HeatRank;
  /** Process and thread whose requests are listed; null for all. */
  readonly pid: number | null;
  readonly tid: number | null;
}

export const ALL_TRACES: TraceSetLink = {
  since_ms: null,
  until_ms: null,
  low: 0,
  high: 100,
  tag: "",
  run: "",
};

export const EMPTY_TRACES: TracesLink = {
  ...ALL_TRACES,
  service: "",
  operation: "",
  view: "flame",
  zoom: [],
  search: "",
  exclude: [],
  base: null,
  other: null,
  reference: null,
  everyRoot: false,
  project: "",
  less_ms: 20,
  attribute: "",
  heatMetric: "exclusive",
  heatRank: "P50",
  pid: null,
  tid: null,
};

/** Read a query; invalid parts are ignored. */
export function parseTracesLink(query: string): TracesLink {
  const given = new URLSearchParams(query);
  const text = (name: string) => given.get(name) ?? "";
  return {
    ...setFrom(given),
    service: text("service"),
    operation: text("operation"),
    view: TRACE_VIEWS.find((view) => view === text("view")) ?? "flame",
    zoom: given.getAll("zoom"),
    search: text("search"),
    exclude: given.getAll("exclude"),
    base: given.has("base") ? setFrom(new URLSearchParams(text("base"))) : null,
    other: given.has("other") ? setFrom(new URLSearchParams(text("other"))) : null,
    reference: given.has("reference") ? setFrom(new URLSearchParams(text("reference"))) : null,
    everyRoot: text("roots") === "every",
    project: text("project"),
    less_ms: numberOf(given, "less", 0, 1e7) ?? EMPTY_TRACES.less_ms,
    attribute: text("attribute"),
    heatMetric: HEAT_METRICS.find((one) => one === text("metric")) ?? "exclusive",
    heatRank: HEAT_RANKS.find((one) => one === text("rank")) ?? "P50",
    pid: numberOf(given, "pid", 1, 2 ** 31),
    tid: numberOf(given, "tid", 1, 2 ** 31),
  };
}

function setFrom(given: URLSearchParams): TraceSetLink {
  const low = numberOf(given, "low", 0, 100) ?? 0;
  const high = numberOf(given, "high", 0, 100) ?? 100;
  return {
    since_ms: numberOf(given, "since", 0, 1e14),
    until_ms: numberOf(given, "until", 0, 1e14),
    ...(low < high ? { low, high } : { low: 0, high: 100 }),
    tag: given.get("tag") ?? "",
    run: RUN.exec(given.get("run") ?? "")?.[0] ?? "",
  };
}

function numberOf(given: URLSearchParams, name: string, least: number, most: number) {
  const text = given.get(name) ?? "";
  const value = Number(text);
  return text.trim() !== "" && value >= least && value <= most ? value : null;
}

/** Address of the page in a state; defaults are omitted. */
export function tracesHref(link: Partial<TracesLink>): string {
  const all = { ...EMPTY_TRACES, ...link };
  const query = new URLSearchParams();
  const set = (name: string, value: string | number | null, omitted: string | number | null) => {
    if (value !== omitted && value !== null) query.set(name, String(value));
  };
  set("service", all.service, "");
  set("operation", all.operation, "");
  set("view", all.view, "flame");
  for (const [name, value] of setParts(all)) query.append(name, value);
  for (const name of all.zoom) query.append("zoom", name);
  set("search", all.search, "");
  for (const name of all.exclude) query.append("exclude", name);
  if (all.base !== null) query.set("base", new URLSearchParams(setParts(all.base)).toString());
  if (all.other !== null) query.set("other", new URLSearchParams(setParts(all.other)).toString());
  if (all.reference !== null)
    query.set("reference", new URLSearchParams(setParts(all.reference)).toString());
  if (all.everyRoot) query.set("roots", "every");
  set("project", all.project, "");
  set("less", all.less_ms, EMPTY_TRACES.less_ms);
  set("attribute", all.attribute, "");
  set("metric", all.heatMetric, "exclusive");
  set("rank", all.heatRank, "P50");
  set("pid", all.pid, null);
  set("tid", all.tid, null);
  const text = query.toString();
  return text === "" ? "/traces" : `/traces?${text}`;
}

function setParts(set: TraceSetLink): [string, string][] {
  const parts: [string, string][] = [];
  if (set.since_ms !== null) parts.push(["since", String(set.since_ms)]);
  if (set.until_ms !== null) parts.push(["until", String(set.until_ms)]);
  if (set.low !== 0) parts.push(["low", String(set.low)]);
  if (set.high !== 100) parts.push(["high", String(set.high)]);
  if (set.tag !== "") parts.push(["tag", set.tag]);
  if (set.run !== "") parts.push(["run", set.run]);
  return parts;
}

/** Convert milliseconds to nanoseconds as text: a number would lose its last digits. */
function nanoseconds(ms: number): string {
  return `${Math.round(1000 * ms)}000`;
}

/** Query parameters of a set. */
function setQuery(set: TraceSetLink): [string, string][] {
  const parts: [string, string][] = [];
  if (set.since_ms !== null) parts.push(["since_ns", nanoseconds(set.since_ms)]);
  if (set.until_ms !== null) parts.push(["until_ns", nanoseconds(set.until_ms)]);
  if (set.low !== 0) parts.push(["low", String(set.low)]);
  if (set.high !== 100) parts.push(["high", String(set.high)]);
  if (set.tag !== "") parts.push(["tag", set.tag]);
  if (set.run !== "") parts.push(["run", set.run]);
  return parts;
}

type EndpointLink = Pick<TracesLink, "service" | "operation">;

function endpointQuery({ service, operation }: EndpointLink): [string, string][] {
  return [
    ["service", service],
    ["operation", operation],
  ];
}

export function endpointsQuery({ since_ms, until_ms }: TraceSetLink): string {
  return new URLSearchParams(setQuery({ ...ALL_TRACES, since_ms, until_ms })).toString();
}

/** Add the options of path finding, which all views share. */
function addPathOptions(query: URLSearchParams, { exclude, everyRoot }: TracesLink): void {
  for (const name of exclude) query.append("exclude", name);
  if (everyRoot) query.set("merge", "merged");
}

/** Query of the analysis of an endpoint's traces. */
export function analysisQuery(link: TracesLink): string {
  const query = new URLSearchParams([...endpointQuery(link), ...setQuery(link)]);
  addPathOptions(query, link);
  if (link.view === "errors" && link.reference !== null) {
    query.set("reference", new URLSearchParams(setQuery(link.reference)).toString());
  }
  if (link.view === "operations" && link.project !== "") {
    query.set("project", link.project);
    query.set("less_ns", nanoseconds(link.less_ms));
  }
  return query.toString();
}

/** Query of the heat map of an endpoint's traces. */
export function heatQuery(link: TracesLink): string {
  const query = new URLSearchParams([...endpointQuery(link), ...setQuery(link)]);
  addPathOptions(query, link);
  query.set("metric", link.heatMetric);
  query.set("percentile", link.heatRank.slice(1));
  return query.toString();
}

/** Query of the report day by day. */
export function daysQuery(link: TracesLink): string {
  const query = new URLSearchParams([...endpointQuery(link), ...setQuery(link)]);
  addPathOptions(query, link);
  return query.toString();
}

/** Query of the chosen operation's own time by attribute value; null while none is chosen. */
export function valuesQuery(link: TracesLink): string | null {
  if (link.project === "") return null;
  const query = new URLSearchParams(daysQuery(link));
  query.set("of", link.project);
  if (link.attribute !== "") query.set("attribute", link.attribute);
  return query.toString();
}

/** path: sorted by the wait for the process or thread, longest first. */
export type RequestOrder = "recent" | "slowest" | "path";

/** Query of the list of an endpoint's or thread's traces. */
export function requestsQuery(link: TracesLink, order: RequestOrder): string {
  const query = new URLSearchParams(link.operation === "" ? [] : endpointQuery(link));
  for (const [name, value] of setQuery(link)) query.append(name, value);
  if (link.pid !== null) query.set("pid", String(link.pid));
  if (link.tid !== null) query.set("thread_id", String(link.tid));
  query.set("order", order);
  return query.toString();
}

/** Query of the difference; null while the sets are not chosen. */
export function differenceQuery(link: TracesLink): string | null {
  if (link.base === null || link.other === null) return null;
  const query = new URLSearchParams(endpointQuery(link));
  query.set("base", new URLSearchParams(setQuery(link.base)).toString());
  query.set("other", new URLSearchParams(setQuery(link.other)).toString());
  addPathOptions(query, link);
  return query.toString();
}

/** Predefined latency windows; equal to those of `tidscope critical-path`. */
export const LATENCY_WINDOWS = [
  { low: 0, high: 100, label: "All" },
  { low: 45, high: 55, label: "P50" },
  { low: 92.5, high: 97.5, label: "P95" },
  { low: 98, high: 100, label: "P99" },
  { low: 0, high: 20, label: "P0 to P20" },
  { low: 20, high: 40, label: "P20 to P40" },
  { low: 40, high: 60, label: "P40 to P60" },
  { low: 60, high: 80, label: "P60 to P80" },
  { low: 80, high: 100, label: "P80 to P100" },
] as const;

/** Explanation of a run's requests. */
export const OF_A_RUN =
  "Of a run are the requests that began in its time and have a span of its processes (attribute process.pid), or no span that names one.";

/** Extract the set from a wider state. */
export function setOf({ since_ms, until_ms, low, high, tag, run }: TraceSetLink): TraceSetLink {
  return { since_ms, until_ms, low, high, tag, run };
}

/** Requests around the median, and the slowest ones. */
export const AROUND_P50: TraceSetLink = { ...ALL_TRACES, low: 45, high: 55 };
export const AROUND_P99: TraceSetLink = { ...ALL_TRACES, low: 98, high: 100 };

/** Percentiles in words: "all", "P45 to P55". */
export function windowText({ low, high }: Pick<TraceSetLink, "low" | "high">): string {
  return low === 0 && high === 100 ? "all latencies" : `P${low} to P${high}`;
}

/** Duration of a request, as start and end in ns. */
interface Stay {
  readonly start_ns: number;
  readonly duration_ns: number;
}

/** The middle, in ms, of the longest time without a request; null if none. */
export function longestPause(requests: readonly Stay[]): number | null {
  const sorted = [...requests].sort((a, b) => a.start_ns - b.start_ns);
  let longest = 0;
  let middle: number | null = null;
  let ended = sorted[0]?.start_ns ?? 0;
  for (const { start_ns, duration_ns } of sorted) {
    if (start_ns - ended > longest) {
      longest = start_ns - ended;
      middle = (ended + longest / 2) / 1e6;
    }
    ended = Math.max(ended, start_ns + duration_ns);
  }
  return middle;
}
