/** The page's end of the worker; see stream/client.ts. */

import { dropSession, session } from "../base/session";
import { createStore, type Writable } from "../base/store";
import type { LiveState, Problem } from "../wire/generated/models";
import type { Connection } from "../wire/liveSocket";
import type { LiveClient } from "./client";
import { FACT_PARTS, type FactViews } from "./factViews";
import { type MapPicture, nextPicture } from "./mapPicture";
import { type RunSource, within } from "./runWindow";
import { watchScrolling } from "./scrolling";
import type { SteerView } from "./steerView";
import type { DataHealth, TargetView } from "./targetView";
import {
  type ChartId,
  type ChartRequest,
  DEFAULT_REQUEST,
  type FactPart,
  type Hover,
  type ThreadKey,
  type TimeWindow,
  type ViewRequest,
} from "./viewRequest";
import type { ChartView, EventsView, Outline, Reading, TableView, TileView } from "./views";
import type { Span } from "./window";
import type { FromWorker, ProbeFrame, ToWorker } from "./workerProtocol";

/**
 * Timing of a frame from sample to screen. Off by default; enabled if `window.__tidscope_probe` is
 * an array before the client is created (a benchmark sets it by an init script). Entries are
 * appended to that array.
 */
export interface ProbeEntry extends ProbeFrame {
  /** Times of reception by the page, of drawing, and of the paint. */
  readonly delivered_unix_ms: number;
  readonly drawn_unix_ms: number;
  readonly painted_unix_ms: number;
}

declare global {
  interface Window {
    __tidscope_probe?: ProbeEntry[];
  }
}

/** Used part of a Worker. */
export interface WorkerLike {
  onmessage: ((event: MessageEvent<FromWorker>) => void) | null;
  postMessage(message: ToWorker): void;
  terminate(): void;
}

const NO_HOVER: Hover = { t_s: null, key: null, chart: null };

/** Create the client: start the worker and connect to /ws/live of the page's own origin. */
export function createLiveClient(): LiveClient {
  const worker = startWorker();
  const url = new URL("/ws/live", location.href);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return clientOf(worker, url.href, window.__tidscope_probe ?? null);
}

/** Create a client that reads a run, with a separate worker. */
export function createRunClient(run: RunSource): LiveClient {
  return runClientOf(startWorker(), run);
}

function startWorker(): WorkerLike {
  return new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
}

/** Create a client over any worker; `probe` receives the frames' times if given. */
export function clientOf(worker: WorkerLike, url: string, probe: ProbeEntry[] | null): LiveClient {
  return makeClient(
    worker,
    { type: "open", url, probe: probe !== null, ...authorization() },
    probe,
    null,
  );
}

/** `clientOf` for a run. The window is initially the whole run, and never exceeds it. */
export function runClientOf(worker: WorkerLike, run: RunSource): LiveClient {
  const extent = { t0_s: run.from_s, t1_s: Math.max(run.to_s, run.from_s + 0.1) };
  const client = makeClient(worker, { type: "open_run", run, ...authorization() }, null, extent);
  client.follow(run.id);
  return client;
}

function authorization(): { readonly credential: string | null } {
  return { credential: session.get()?.credential ?? null };
}

function makeClient(
  worker: WorkerLike,
  open: ToWorker,
  probe: ProbeEntry[] | null,
  extent: Span | null,
): LiveClient {
  const connection = createStore<Connection>({ state: "connecting", attempt: 1 });
  const live = createStore<LiveState | null>(null);
  const problem = createStore<Problem | null>(null);
  const reading = createStore<Reading | null>(null);
  const outline = createStore<Outline | null>(null);
  const view = createStore<ViewRequest>(
    extent ? { ...DEFAULT_REQUEST, window: { kind: "fixed", ...extent } } : DEFAULT_REQUEST,
  );
  const followed = createStore<string | null>(null);
  const axis = createStore<Span | null>(null);
  const target = createStore<TargetView | null>(null);
  const tiles = createStore<readonly TileView[] | null>(null);
  const table = createStore<TableView | null>(null);
  const events = createStore<EventsView | null>(null);
  const health = createStore<DataHealth | null>(null);
  const steer = createStore<SteerView | null>(null);
  const map = createStore<MapPicture | null>(null);
  const facts = factStores();
  const hover = createStore<Hover>(NO_HOVER);
  const charts = new Map<ChartId, Writable<ChartView | null>>();
  const mounted = new Map<symbol, ChartRequest>();
  const seen = new Map<symbol, FactPart>();
  let asking = false;
  const page = typeof document === "undefined" ? null : document;
  const scrolling = watchScrolling(page);

  const post = (message: ToWorker): void => worker.postMessage(message);

  /** Changes within one turn are merged into one message. */
  const ask = (): void => {
    if (asking) return;
    asking = true;
    queueMicrotask(() => {
      asking = false;
      post({ type: "request", request: view.get(), charts: together(mounted.values()) });
    });
  };

  const chartStore = (chart: ChartId): Writable<ChartView | null> => {
    let store = charts.get(chart);
    if (!store) {
      store = createStore<ChartView | null>(null);
      charts.set(chart, store);
    }
    return store;
  };

  const clear = (): void => {
    for (const store of [axis, target, tiles, table, events, health, steer, map]) store.set(null);
    for (const store of charts.values()) store.set(null);
    for (const part of FACT_PARTS) facts[part].set(null);
    hover.set(NO_HOVER);
  };

  const request = (part: Partial<ViewRequest>): void => {
    const before = view.get();
    const next = { ...before, ...part };
    if (extent) next.window = wholeOrWithin(next.window, extent);
    if (JSON.stringify(next) === JSON.stringify(before)) return;
    view.set(next);
    ask();
  };

  worker.onmessage = ({ data }) => {
    switch (data.type) {
      case "connection":
        connection.set(data.connection);
        break;
      case "unauthorized":
        dropSession(data.credential);
        break;
      case "live":
        live.set(data.live);
        break;
      case "problem":
        problem.set(data.problem);
        break;
      case "reading":
        reading.set(data.reading);
        break;
      case "outline":
        outline.set(data.outline);
        break;
      case "views":
        if (probe && data.frames) notePaint(data.frames, probe);
        nextFrame(() => scrolling.whenStill(() => post({ type: "drawn" })));
        if (data.id !== followed.get()) break; // views of the previous target
        if (data.axis) axis.set(data.axis);
        if (data.target) target.set(data.target);
        if (data.health) health.set(data.health);
        if (data.tiles) tiles.set(data.tiles);
        if (data.table) table.set(data.table);
        if (data.events) events.set(data.events);
        if (data.steer) steer.set(data.steer);
        if (data.map) map.set(nextPicture(map.get(), data.map));
        setFacts(facts, data);
        for (const chart of data.charts ?? []) chartStore(chart.chart).set(chart);
        break;
    }
  };

  const onVisibility = (): void => post({ type: "visible", visible: !document.hidden });
  page?.addEventListener("visibilitychange", onVisibility);
  post(open);
  const forgetSession = session.subscribe(() => {
    const change = authorization();
    if (change.credential === null) live.set(null);
    post({ type: "authorize", ...change });
  });

  return {
    connection,
    live,
    problem,
    extent,
    reading,
    outline,
    view,
    request,
    followed,
    follow: (id) => {
      if (id === followed.get()) return;
      followed.set(id);
      clear();
      problem.set(null);
      // A run's worker cannot follow another target.
      if (!extent) post({ type: "follow", target: id });
      request({
        paused: false,
        selected: null,
        pinned: [],
        open_lock: null,
        window: liveWindow(view.get()),
      });
    },
    axis,
    target,
    tiles,
    table,
    events,
    health,
    steer,
    map,
    facts,
    chart: chartStore,
    hover,
    select: (key) => request({ selected: key === view.get().selected ? null : key }),
    togglePin: (key) => request({ pinned: toggled(view.get().pinned, key) }),
    setPaused: (paused) => request({ paused }),
    mountChart: (chart, width_px, in_view) => {
      const mount = Symbol(chart);
      mounted.set(mount, { chart, width_px, in_view });
      ask();
      return () => {
        mounted.delete(mount);
        ask();
      };
    },
    mountFacts: (part) => {
      const mount = Symbol(part);
      const change = () => request({ facts: FACT_PARTS.filter((each) => has(seen, each)) });
      seen.set(mount, part);
      change();
      return () => {
        seen.delete(mount);
        change();
      };
    },
    retryNow: () => post({ type: "retry" }),
    dispose: () => {
      page?.removeEventListener("visibilitychange", onVisibility);
      scrolling.dispose();
      forgetSession();
      post({ type: "close" });
      worker.terminate();
    },
  };
}

/** One request per chart: the widest of the mounted ones, visible if any is. */
function together(mounted: Iterable<ChartRequest>): readonly ChartRequest[] {
  const requests = new Map<ChartId, ChartRequest>();
  for (const { chart, width_px, in_view } of mounted) {
    const other = requests.get(chart);
    const widest = Math.max(width_px, other?.width_px ?? 0);
    requests.set(chart, { chart, width_px: widest, in_view: in_view || (other?.in_view ?? false) });
  }
  return [...requests.values()];
}

/** A window of a run: a live window becomes the whole run. */
function wholeOrWithin(window: TimeWindow, extent: Span): TimeWindow {
  return { kind: "fixed", ...(window.kind === "last" ? extent : within(window, extent)) };
}

type FactStores = { readonly [P in FactPart]: Writable<FactViews[P] | null> };

function factStores(): FactStores {
  return {
    findings: createStore<FactViews["findings"] | null>(null),
    change: createStore<FactViews["change"] | null>(null),
    thread: createStore<FactViews["thread"] | null>(null),
    processes: createStore<FactViews["processes"] | null>(null),
    pools: createStore<FactViews["pools"] | null>(null),
    thread_facts: createStore<FactViews["thread_facts"] | null>(null),
    wakes: createStore<FactViews["wakes"] | null>(null),
    waiting: createStore<FactViews["waiting"] | null>(null),
    goroutines: createStore<FactViews["goroutines"] | null>(null),
    calls: createStore<FactViews["calls"] | null>(null),
    names: createStore<FactViews["names"] | null>(null),
  };
}

function setFacts(stores: FactStores, views: Partial<FactViews>): void {
  if (views.findings) stores.findings.set(views.findings);
  if (views.change) stores.change.set(views.change);
  if (views.thread) stores.thread.set(views.thread);
  if (views.processes) stores.processes.set(views.processes);
  if (views.pools) stores.pools.set(views.pools);
  if (views.thread_facts) stores.thread_facts.set(views.thread_facts);
  if (views.wakes) stores.wakes.set(views.wakes);
  if (views.waiting) stores.waiting.set(views.waiting);
  if (views.goroutines) stores.goroutines.set(views.goroutines);
  if (views.calls) stores.calls.set(views.calls);
  if (views.names) stores.names.set(views.names);
}

function has<T>(mounts: ReadonlyMap<symbol, T>, value: T): boolean {
  return [...mounts.values()].includes(value);
}

/** Call at the next animation frame; at once if nothing is drawn (tests). */
function nextFrame(call: () => void): void {
  if (typeof requestAnimationFrame === "undefined") call();
  else requestAnimationFrame(call);
}

/** Reset a fixed window: its times are invalid for another target. */
function liveWindow({ window }: ViewRequest): ViewRequest["window"] {
  return window.kind === "last" ? window : DEFAULT_REQUEST.window;
}

function toggled(keys: readonly ThreadKey[], key: ThreadKey): readonly ThreadKey[] {
  return keys.includes(key) ? keys.filter((other) => other !== key) : [...keys, key];
}

/**
 * Record when views with these frames are drawn and painted. Charts draw as their views are set;
 * the first task after the next animation frame runs after its paint.
 */
function notePaint(frames: readonly ProbeFrame[], probe: ProbeEntry[]): void {
  const delivered_unix_ms = unixNow();
  queueMicrotask(() => {
    const drawn_unix_ms = unixNow();
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        channel.port1.close();
        const times = { delivered_unix_ms, drawn_unix_ms, painted_unix_ms: unixNow() };
        for (const frame of frames) probe.push({ ...frame, ...times });
      };
      channel.port2.postMessage(null);
    });
  });
}

/** Unix milliseconds, with fractions. */
function unixNow(): number {
  return performance.timeOrigin + performance.now();
}
