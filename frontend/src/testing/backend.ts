/**
 * A backend for component tests: answers HTTP requests with the test's values, and speaks on
 * /ws/live.
 */

import { vi } from "vitest";
import type { Frame } from "../wire/frame";
import type {
  HealthResponse,
  Host,
  LiveMessage,
  LiveState,
  Problem,
  Process,
  Role,
} from "../wire/generated/models";
import type { SocketHandlers, SocketLike } from "../wire/liveSocket";
import { encodeFrame, TARGET } from "./frames";

/** The machine of the test target. */
export const HOST: Host = {
  id: TARGET.host,
  name: "bench",
  kernel: "6.12.0",
  cpus: 8,
  cpu_model: "A CPU",
  memory_bytes: 2 ** 34,
  connected: true,
  collector: {
    pid: 2,
    version: "0.1.0",
    privileged: true,
    source: "taskstats",
    reason: "CAP_NET_ADMIN",
    max_targets: 32,
  },
};

export const HEALTH_ANSWER: HealthResponse = {
  status: "ok",
  version: "0.1.0",
  uptime_s: 60,
  uid: 1000,
  collectors: 1,
  clients: 1,
  targets: 1,
  frames: 0,
  frame_bytes: 0,
  coalesced: 0,
  dropped: 0,
  lost: 0,
  history_bytes: 0,
  rss_bytes: 0,
  connections: {
    open: 0,
    authenticated: 0,
    evicted: 0,
    refused: 0,
    timed_out: 0,
    descriptor_shortages: 0,
  },
};

/** A process in the list; pid 4200 called "server" by default. */
export function process(changes: Partial<Process> = {}): Process {
  return { ...TARGET.process, pid: 4200, name: "server", command: "server --port 80", ...changes };
}

export function problem(type: string, changes: Partial<Problem> = {}): Problem {
  return {
    type: `urn:tidscope:problem:${type}`,
    title: type,
    status: 400,
    detail: "",
    hint: "",
    ...changes,
  };
}

/** A request of the page. */
export interface Asked {
  readonly method: string;
  /** Path below /api/v1, with its query. */
  readonly path: string;
  readonly body: unknown;
}

/** Answer of a route: a body, or the result of `refuse`; null for no content. */
type Answer = (asked: Asked) => unknown;

class Refusal {
  constructor(readonly problem: Problem) {}
}

export function refuse(refused: Problem): Refusal {
  return new Refusal(refused);
}

export class FakeBackend {
  /** Every request so far. */
  readonly asked: Asked[] = [];
  /** Messages of the page on the socket, parsed. */
  readonly commands: unknown[] = [];
  private readonly routes = new Map<string, Answer>();
  private readonly sockets: SocketHandlers[] = [];
  private state: LiveState = { type: "live_state", hosts: [HOST], targets: [TARGET] };
  /** Role of the page's session. */
  role: Role = "operator";
  /** True if the backend accepts new connections. */
  listening = true;

  constructor() {
    this.on("GET /health", () => HEALTH_ANSWER);
    this.on("GET /sizes", () => ({ programs: [], omitted: 0 }));
    this.on("GET /processes", () => ({ host: HOST.id, processes: [process()] }));
    vi.stubGlobal("fetch", (path: string, init: RequestInit) => this.answer(path, init));
  }

  /** Set the answer for a method and a path below /api/v1 (without its query). */
  on(route: `${string} /${string}`, answer: Answer): void {
    this.routes.set(route, answer);
  }

  /** Requests of this route so far. */
  requests(route: string): readonly Asked[] {
    return this.asked.filter(({ method, path }) => `${method} ${path.split("?")[0]}` === route);
  }

  private async answer(path: string, { method = "GET", body }: RequestInit): Promise<Response> {
    const below = path.replace(/^\/api\/v1/, "");
    const route = `${method} ${below.split("?")[0]}`;
    const parsed = typeof body === "string" ? JSON.parse(body) : body;
    const asked = { method, path: below, body: parsed };
    this.asked.push(asked);
    const answer = this.routes.get(route);
    const given = answer
      ? await answer(asked)
      : refuse(problem("not-found", { status: 404, title: `No test answers ${route}` }));
    if (given instanceof Refusal) {
      return Response.json(given.problem, { status: given.problem.status });
    }
    return given === null ? new Response(null, { status: 204 }) : Response.json(given);
  }

  /** Socket factory for the session's environment. */
  readonly connect = (_: string, __: readonly string[], handlers: SocketHandlers): SocketLike => {
    this.sockets.push(handlers);
    queueMicrotask(() => {
      if (!this.listening) {
        handlers.onClose(1006, "");
        return;
      }
      handlers.onOpen();
      this.say(this.state);
    });
    return {
      send: (text) => this.commands.push(JSON.parse(text)),
      close: () => undefined,
    };
  };

  /** Send a message to the page. */
  say(message: LiveMessage): void {
    this.sockets.at(-1)?.onMessage(JSON.stringify(message));
  }

  /** Change hosts, targets or recordings, and tell the page. */
  change(part: Partial<LiveState>): void {
    this.state = { ...this.state, ...part };
    this.say(this.state);
  }

  /** Set the first message of a new connection. */
  begin(part: Partial<LiveState>): void {
    this.state = { ...this.state, ...part };
  }

  frame(frame: Frame): void {
    this.sockets.at(-1)?.onMessage(encodeFrame(frame));
  }

  /** Cut the connection. */
  cut(code = 1006, reason = ""): void {
    this.sockets.at(-1)?.onClose(code, reason);
  }
}
