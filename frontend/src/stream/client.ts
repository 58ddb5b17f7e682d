/**
 * The page's end of the worker. The worker does the heavy work: socket, decoding, rings, rates,
 * ranking, decimation.
 *
 * import { createLiveClient } from "./workerClient"; // one per app, made at start const client =
 * createLiveClient(); // opens /ws/live automatically const connection =
 * useStore(client.connection); client.follow("t-100-deadbeef"); // subscribe to a target
 * client.request({ window: { kind: "last", seconds: 60 } });
 *
 * Each chart requests its own view by `mountChart`; a page need not list its charts. Table, tiles
 * and events are requested in the `ViewRequest`.
 *
 * Provides worker clients to pages, which never start workers themselves.
 */

import { createContext, useContext, useEffect, useState } from "react";
import type { Readable, Writable } from "../base/store";
import type { LiveState, Problem } from "../wire/generated/models";
import type { Connection } from "../wire/liveSocket";
import type { FactViews } from "./factViews";
import type { MapPicture } from "./mapPicture";
import type { RunSource } from "./runWindow";
import type { SteerView } from "./steerView";
import type { DataHealth, TargetView } from "./targetView";
import type { ChartId, FactPart, Hover, ThreadKey, ViewRequest } from "./viewRequest";
import type { ChartView, EventsView, Outline, Reading, TableView, TileView } from "./views";
import type { Span } from "./window";

/**
 * The page's end of the worker: owns the worker, and provides stores. One per app. Stores change
 * only when their content changes; views of a target become null when another is followed.
 */
export interface LiveClient {
  readonly connection: Readable<Connection>;
  /** Hosts and targets; null until the backend has reported. */
  readonly live: Readable<LiveState | null>;
  /** The last command the backend refused; cleared by the next `follow`. */
  readonly problem: Readable<Problem | null>;

  /** Time range of a run; null for live data, which is unbounded. */
  readonly extent: Span | null;
  /** Progress of reading a run; null for live data. */
  readonly reading: Readable<Reading | null>;
  /** Overview line of a run; null for live data, and until the run has been read. */
  readonly outline: Readable<Outline | null>;

  readonly view: Readable<ViewRequest>;
  /** Merge a partial request into the one in effect. Cheap; unchanged values have no effect. */
  readonly request: (part: Partial<ViewRequest>) => void;

  /** Id of the followed target. */
  readonly followed: Readable<string | null>;
  /** Follow a target (null: none). Drops the data of the previous one. */
  readonly follow: (target: string | null) => void;

  /** Ends of the time axis of all charts, seconds since attach; null before the first view. */
  readonly axis: Readable<Span | null>;
  readonly target: Readable<TargetView | null>;
  readonly tiles: Readable<readonly TileView[] | null>;
  readonly table: Readable<TableView | null>;
  readonly events: Readable<EventsView | null>;
  readonly health: Readable<DataHealth | null>;
  /** Steering of the target and its decisions; null if the target was never steered. */
  readonly steer: Readable<SteerView | null>;
  /** The thread map, assembled from the views received; requested by `request({ map })`. */
  readonly map: Readable<MapPicture | null>;
  /** Views of frame tables and findings; requested by `mountFacts`. */
  readonly facts: { readonly [P in FactPart]: Readable<FactViews[P] | null> };
  /** Latest view of a chart; the same store for the same id. */
  readonly chart: (chart: ChartId) => Readable<ChartView | null>;

  /** Pointer, shared by all charts. */
  readonly hover: Writable<Hover>;
  /** Select a thread everywhere; null or the selected thread clears the selection. */
  readonly select: (key: ThreadKey | null) => void;
  readonly togglePin: (key: ThreadKey) => void;
  readonly setPaused: (paused: boolean) => void;

  /**
   * Request the view of a chart on the page, with its plot's width in CSS pixels and its
   * visibility. Returns the function that ends the request.
   */
  readonly mountChart: (chart: ChartId, width_px: number, inView: boolean) => () => void;

  /** Request a visible view of a frame table. Returns the function that ends the request. */
  readonly mountFacts: (part: FactPart) => () => void;

  /** Retry at once (from waiting, denied and refused). */
  readonly retryNow: () => void;
  /** Close the socket and end the worker. */
  readonly dispose: () => void;
}

/** The app's only live client. */
export const LiveClientContext = createContext<LiveClient | null>(null);

/** Return the app's only live client. */
export function useLiveClient(): LiveClient {
  const client = useContext(LiveClientContext);
  if (client === null) {
    throw new Error("no live client around this component");
  }
  return client;
}

/** Creates clients that read a run. */
type RunClients = (run: RunSource) => LiveClient;

export const RunClientsContext = createContext<RunClients | null>(null);

/** Return a client of this run for the component's lifetime; null until created. */
export function useRunClient(run: RunSource): LiveClient | null {
  const make = useContext(RunClientsContext);
  const [client, setClient] = useState<LiveClient | null>(null);
  useEffect(() => {
    const made = make?.(run) ?? null;
    setClient(made);
    return () => {
      setClient(null);
      made?.dispose();
    };
  }, [make, run]);
  return client;
}
