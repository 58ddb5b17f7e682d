/**
 * The WebSocket to /ws/live. Reconnects after each loss with exponential back-off and jitter, so
 * that many pages do not reconnect in step. Some close codes end the connection for good.
 */

import { CloseCode } from "./generated/closeCode";

/**
 * State of the socket.
 * - connecting: the first attempt is in progress.
 * - open: messages flow.
 * - waiting: the connection was lost; the next attempt is at `retry_unix_ms` (for a countdown).
 * - denied: no session, or an origin that is not served. Never retried automatically.
 * - refused: closed for a reason that a retry would not fix (protocol version, bad message).
 * - closed: the page closed the connection, or nobody is signed in.
 */
export type Connection =
  | { readonly state: "connecting"; readonly attempt: number }
  | { readonly state: "open"; readonly since_unix_ms: number }
  | {
      readonly state: "waiting";
      readonly attempt: number;
      readonly retry_unix_ms: number;
      readonly reason: string;
    }
  | { readonly state: "denied" | "refused"; readonly code: number; readonly reason: string }
  | { readonly state: "closed" };

/** An open or opening connection. */
export interface SocketLike {
  /** Send if the socket is open; ignored otherwise. */
  readonly send: (data: string) => void;
  /** Close the socket; no further events are delivered. */
  readonly close: () => void;
}

/** Callbacks of a connection. */
export interface SocketHandlers {
  readonly onOpen: () => void;
  readonly onMessage: (data: string | ArrayBuffer) => void;
  readonly onClose: (code: number, reason: string) => void;
}

/** Dependencies; tests inject fakes. */
export interface SocketEnvironment {
  readonly connect: (
    url: string,
    protocols: readonly string[],
    handlers: SocketHandlers,
  ) => SocketLike;
  readonly later: (call: () => void, ms: number) => () => void;
  readonly now_ms: () => number;
  /** Random number from 0 to 1. */
  readonly random: () => number;
}

export interface SocketEvents {
  readonly onState: (state: Connection) => void;
  readonly onOpen: () => void;
  readonly onText: (text: string) => void;
  readonly onBinary: (data: ArrayBuffer) => void;
}

/**
 * Protocol version, and prefix of a session's credential: a browser's WebSocket cannot send a
 * header.
 */
const PROTOCOL = "tidscope.v1";
const SESSION_PROTOCOL = "tidscope.session.";

const FIRST_MS = 500;
const MAX_MS = 15_000;

/** RFC 6455, section 7.4.1. */
const MESSAGE_TOO_BIG = 1009;

const DENIED: readonly number[] = [CloseCode.unauthenticated, CloseCode.forbidden_origin];
const REFUSED: readonly number[] = [
  CloseCode.bad_message,
  MESSAGE_TOO_BIG,
  CloseCode.protocol_version,
];
const NAMES = new Map<number, string>(
  Object.entries(CloseCode).map(([name, code]) => [code, name.replaceAll("_", " ")]),
);

/**
 * Delay before an attempt: 0.5 s, 1 s, 2 s … 15 s, each shortened by up to half.
 * @param attempt Failed attempts so far, from 1.
 */
export function backoff(attempt: number, random: number): number {
  const most = Math.min(MAX_MS, FIRST_MS * 2 ** Math.min(16, attempt - 1));
  return Math.round(most * (1 - random / 2));
}

export class LiveSocket {
  private socket: SocketLike | null = null;
  private cancel: (() => void) | null = null;
  private failures = 0;
  private ended = false;

  /** @param credential Credential of the session; null keeps the socket closed. */
  constructor(
    private readonly url: string,
    private credential: string | null,
    private readonly events: SocketEvents,
    private readonly env: SocketEnvironment,
  ) {}

  /** Connect with another session, or close if null. */
  authorize(credential: string | null): void {
    this.credential = credential;
    this.failures = 0;
    this.open();
  }

  /** Connect, or retry at once, whatever the state. */
  open(): void {
    if (this.credential === null) {
      this.close();
      return;
    }
    this.ended = false;
    this.cancel?.();
    this.cancel = null;
    this.leave();
    this.events.onState({ state: "connecting", attempt: this.failures + 1 });
    const protocols = [PROTOCOL, SESSION_PROTOCOL + this.credential];
    this.socket = this.env.connect(this.url, protocols, {
      onOpen: () => {
        this.events.onState({ state: "open", since_unix_ms: this.env.now_ms() });
        this.events.onOpen();
      },
      onMessage: (data) => {
        // A connection counts as working only after a message has arrived.
        this.failures = 0;
        if (typeof data === "string") this.events.onText(data);
        else this.events.onBinary(data);
      },
      onClose: (code, reason) => {
        this.socket = null;
        this.lost(code, reason);
      },
    });
  }

  /** Send if connected; ignored otherwise. State that must arrive is resent in `onOpen`. */
  send(text: string): void {
    this.socket?.send(text);
  }

  /** Close the connection for good. */
  close(): void {
    this.ended = true;
    this.cancel?.();
    this.cancel = null;
    this.leave();
    this.events.onState({ state: "closed" });
  }

  private leave(): void {
    this.socket?.close();
    this.socket = null;
  }

  private lost(code: number, reported: string): void {
    if (this.ended) return;
    const reason = reported || NAMES.get(code) || "the connection was lost";
    if (DENIED.includes(code)) {
      this.events.onState({ state: "denied", code, reason });
      return;
    }
    if (REFUSED.includes(code)) {
      this.events.onState({ state: "refused", code, reason });
      return;
    }
    this.failures++;
    const wait_ms = backoff(this.failures, this.env.random());
    const retry_unix_ms = this.env.now_ms() + wait_ms;
    this.events.onState({ state: "waiting", attempt: this.failures, retry_unix_ms, reason });
    this.cancel = this.env.later(() => this.open(), wait_ms);
  }
}

/** Open the browser's WebSocket, adapted for `LiveSocket`. */
export function connectWebSocket(
  url: string,
  protocols: readonly string[],
  handlers: SocketHandlers,
): SocketLike {
  const socket = new WebSocket(url, [...protocols]);
  const listening = new AbortController();
  const { signal } = listening;
  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => handlers.onOpen(), { signal });
  socket.addEventListener(
    "message",
    ({ data }: MessageEvent<string | ArrayBuffer>) => handlers.onMessage(data),
    { signal },
  );
  socket.addEventListener("close", ({ code, reason }) => handlers.onClose(code, reason), {
    signal,
  });
  return {
    send: (data) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(data);
    },
    close: () => {
      listening.abort();
      socket.close(1000);
    },
  };
}
