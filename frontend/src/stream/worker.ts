/** Entry point of the worker: provides the session's real dependencies. */

import { connectWebSocket } from "../wire/liveSocket";
import { readFrames } from "../wire/runFrames";
import { loadFindings } from "./factViews";
import { LiveSession } from "./session";
import type { FromWorker, ToWorker } from "./workerProtocol";

/** Used part of the worker's global scope; the page's `self` has another postMessage. */
interface Scope {
  postMessage(message: FromWorker, transfer: ArrayBuffer[]): void;
  onmessage: ((event: MessageEvent<ToWorker>) => void) | null;
}

const scope: Scope = self;

const session = new LiveSession({
  connect: connectWebSocket,
  later: (call, ms) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
  // Date.now() has whole milliseconds only.
  now_ms: () => performance.timeOrigin + performance.now(),
  clock_ms: () => performance.now(),
  random: () => Math.random(),
  // A run is viewed once it is read; a live target's views are made again and again.
  read: async (...request) => {
    await loadFindings();
    return readFrames(...request);
  },
  post: (message, transfer) => scope.postMessage(message, transfer),
});

scope.onmessage = (event) => session.receive(event.data);
