/** Messages between the page and its worker. */

import type { LiveState, Problem } from "../wire/generated/models";
import type { Connection } from "../wire/liveSocket";
import type { RunSource } from "./runWindow";
import type { Views } from "./viewBuilder";
import type { ChartRequest, ViewRequest } from "./viewRequest";
import type { DataHealth, Outline, Reading } from "./views";

export type ToWorker =
  | {
      readonly type: "open";
      readonly url: string;
      readonly probe: boolean;
      /** Of the session; null while nobody is signed in. */
      readonly credential: string | null;
    }
  /** Read a run instead of what is live. */
  | { readonly type: "open_run"; readonly run: RunSource; readonly credential: string | null }
  /** Somebody signed in, or out. */
  | { readonly type: "authorize"; readonly credential: string | null }
  | { readonly type: "follow"; readonly target: string | null }
  | {
      readonly type: "request";
      readonly request: ViewRequest;
      readonly charts: readonly ChartRequest[];
    }
  | { readonly type: "visible"; readonly visible: boolean }
  /** The oldest of the views that were sent and not drawn was drawn. */
  | { readonly type: "drawn" }
  | { readonly type: "retry" }
  | { readonly type: "close" };

export type FromWorker =
  | { readonly type: "connection"; readonly connection: Connection }
  /** The backend does not accept this credential. */
  | { readonly type: "unauthorized"; readonly credential: string }
  | { readonly type: "live"; readonly live: LiveState }
  | { readonly type: "problem"; readonly problem: Problem | null }
  | { readonly type: "reading"; readonly reading: Reading }
  | { readonly type: "outline"; readonly outline: Outline }
  | ({ readonly type: "views" } & ViewBatch);

/** Views that were made together; what is left out has not changed. */
export interface ViewBatch extends Partial<Views> {
  /** Target they are of. */
  readonly id: string;
  readonly health?: DataHealth;
  /** Frames that these views are the first to contain; left out unless the probe is on. */
  readonly frames?: readonly ProbeFrame[];
}

/** A frame's way through the worker: Unix milliseconds, with fractions. */
export interface ProbeFrame {
  readonly target: string;
  readonly seq: number;
  readonly first_seq: number;
  /** When the sample was taken, by the collector's clock. */
  readonly unix_us: number;
  /** When the worker began to deal with it: it had come out of the socket. */
  readonly received_unix_ms: number;
  /** When its counters were in the model, and when the first views with them were made. */
  readonly held_unix_ms: number;
  readonly made_unix_ms: number;
}
