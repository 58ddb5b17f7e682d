/** Messages between the page and its worker. */

import type { LiveState, Problem } from "../wire/generated/models";
import type { Connection } from "../wire/liveSocket";
import type { RunSource } from "./runWindow";
import type { DataHealth } from "./targetView";
import type { Views } from "./viewBuilder";
import type { ChartRequest, ViewRequest } from "./viewRequest";
import type { Outline, Reading } from "./views";

export type ToWorker =
  | {
      readonly type: "open";
      readonly url: string;
      readonly probe: boolean;
      /** Credential of the session; null while nobody is signed in. */
      readonly credential: string | null;
    }
  /** Read a run instead of live data. */
  | { readonly type: "open_run"; readonly run: RunSource; readonly credential: string | null }
  /** A sign-in or sign-out. */
  | { readonly type: "authorize"; readonly credential: string | null }
  | { readonly type: "follow"; readonly target: string | null }
  | {
      readonly type: "request";
      readonly request: ViewRequest;
      readonly charts: readonly ChartRequest[];
    }
  | { readonly type: "visible"; readonly visible: boolean }
  /** The oldest undrawn view has been drawn. */
  | { readonly type: "drawn" }
  | { readonly type: "retry" }
  | { readonly type: "close" };

export type FromWorker =
  | { readonly type: "connection"; readonly connection: Connection }
  /** The backend rejects this credential. */
  | { readonly type: "unauthorized"; readonly credential: string }
  | { readonly type: "live"; readonly live: LiveState }
  | { readonly type: "problem"; readonly problem: Problem | null }
  | { readonly type: "reading"; readonly reading: Reading }
  | { readonly type: "outline"; readonly outline: Outline }
  | ({ readonly type: "views" } & ViewBatch);

/** Views computed together; omitted ones are unchanged. */
export interface ViewBatch extends Partial<Views> {
  /** Target of the views. */
  readonly id: string;
  readonly health?: DataHealth;
  /** Frames first contained in these views; omitted unless the probe is on. */
  readonly frames?: readonly ProbeFrame[];
}

/** Times of a frame in the worker: Unix milliseconds, with fractions. */
export interface ProbeFrame {
  readonly target: string;
  readonly seq: number;
  readonly first_seq: number;
  /** Time of the sample, by the collector's clock. */
  readonly unix_us: number;
  /** Start of processing in the worker, after reception. */
  readonly received_unix_ms: number;
  /** Times of ingestion into the model, and of the first views with the frame. */
  readonly held_unix_ms: number;
  readonly made_unix_ms: number;
}
