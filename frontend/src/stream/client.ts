/**
 * The page's end of the worker. Everything heavy happens in the worker: socket, decoding, rings,
 * rates, ranking, decimation.
 *
 *     import { createLiveClient } from "./workerClient";       // one per app, made at start
 *     const client = createLiveClient();                       // opens /ws/live by itself
 *     const connection = useStore(client.connection);
 *     client.follow("t-100-deadbeef");                         // subscribe to a target
 *     client.request({ window: { kind: "last", seconds: 60 } });
 *
 * Charts on the page ask for their own view by `mountChart`; a page need not list them. Table,
 * tiles and events are asked for in the `ViewRequest`.
 */

import type { Readable, Writable } from "../base/store";
import type { LiveState, Problem } from "../wire/generated/models";
import type { Connection } from "../wire/liveSocket";
import type { FactViews } from "./factViews";
import type { MapPicture } from "./mapPicture";
import type { SteerView } from "./steerView";
import type { ChartId, FactPart, Hover, ThreadKey, ViewRequest } from "./viewRequest";
import type {
  ChartView,
  DataHealth,
  EventsView,
  Outline,
  Reading,
  TableView,
  TargetView,
  TileView,
} from "./views";
import type { Span } from "./window";

/**
 * The page's end of the worker: owns it, and hands out stores. One per app. Stores change only when
 * something in them changed; views of a target become null when another is followed.
 */
export interface LiveClient {
  readonly connection: Readable<Connection>;
  /** Hosts and targets; null until the backend has reported. */
  readonly live: Readable<LiveState | null>;
  /** The last command the backend refused; cleared by the next `follow`. */
  readonly problem: Readable<Problem | null>;

  /** What there is to look at, of a run; null: what is live has no end. */
  readonly extent: Span | null;
  /** How far a run has been read; null of what is live. */
  readonly reading: Readable<Reading | null>;
  /** A run in one line; null of what is live, and until it has been read. */
  readonly outline: Readable<Outline | null>;

  /** The request in effect. */
  readonly view: Readable<ViewRequest>;
  /** Merge a part of a request into the one in effect. Cheap; unchanged values do nothing. */
  readonly request: (part: Partial<ViewRequest>) => void;

  /** Id of the followed target. */
  readonly followed: Readable<string | null>;
  /** Follow a target (null: none). Drops what was held of the one before. */
  readonly follow: (target: string | null) => void;

  /** Ends of the time axis of all charts, seconds since attach; null before the first view. */
  readonly axis: Readable<Span | null>;
  readonly target: Readable<TargetView | null>;
  readonly tiles: Readable<readonly TileView[] | null>;
  readonly table: Readable<TableView | null>;
  readonly events: Readable<EventsView | null>;
  readonly health: Readable<DataHealth | null>;
  /** What steers the target and what it decided; null while nothing ever did. */
  readonly steer: Readable<SteerView | null>;
  /** The thread map, put together of what came; asked for by `request({ map })`. */
  readonly map: Readable<MapPicture | null>;
  /** Views of frame tables and findings; asked for by `mountFacts`. */
  readonly facts: { readonly [P in FactPart]: Readable<FactViews[P] | null> };
  /** Latest view of a chart; the same store for the same id. */
  readonly chart: (chart: ChartId) => Readable<ChartView | null>;

  /** Pointer, shared by all charts. */
  readonly hover: Writable<Hover>;
  /** Select a thread everywhere; the selected one again, or null, selects none. */
  readonly select: (key: ThreadKey | null) => void;
  readonly togglePin: (key: ThreadKey) => void;
  readonly setPaused: (paused: boolean) => void;

  /**
   * A chart of this width (CSS pixels of its plot) is on the page, and can be seen or not: make its
   * view. Returns what ends it.
   */
  readonly mountChart: (chart: ChartId, width_px: number, inView: boolean) => () => void;

  /** A view of a frame table can be seen: make it. Returns what ends it. */
  readonly mountFacts: (part: FactPart) => () => void;

  /** Try again at once (from waiting, denied and refused). */
  readonly retryNow: () => void;
  /** Close the socket and end the worker. */
  readonly dispose: () => void;
}
