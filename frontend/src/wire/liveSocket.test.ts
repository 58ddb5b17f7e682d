import { describe, expect, it } from "vitest";
import { CloseCode } from "./generated/closeCode";
import { backoff, type Connection, LiveSocket, type SocketHandlers } from "./liveSocket";

function setUp() {
  const sockets: SocketHandlers[] = [];
  const offered: (readonly string[])[] = [];
  const timers: { call: () => void; ms: number }[] = [];
  const states: Connection[] = [];
  const sent: string[] = [];
  let opened = 0;
  const socket = new LiveSocket(
    "ws://here/ws/live",
    "tds_1",
    {
      onState: (state) => states.push(state),
      onOpen: () => opened++,
      onText: () => undefined,
      onBinary: () => undefined,
    },
    {
      connect: (_, protocols, handlers) => {
        sockets.push(handlers);
        offered.push(protocols);
        return { send: (data) => sent.push(data), close: () => undefined };
      },
      later: (call, ms) => {
        const timer = { call, ms };
        timers.push(timer);
        return () => timers.splice(timers.indexOf(timer), 1);
      },
      now_ms: () => 1000,
      random: () => 0,
    },
  );
  const last = (): SocketHandlers => sockets.at(-1) ?? expect.fail("no socket");
  return { socket, sockets, offered, timers, states, sent, last, opened: () => opened };
}

describe("backoff", () => {
  it("doubles up to a bound and takes up to half off", () => {
    expect([1, 2, 3, 4, 5, 6, 7].map((attempt) => backoff(attempt, 0))).toEqual([
      500, 1000, 2000, 4000, 8000, 15000, 15000,
    ]);
    expect(backoff(3, 1)).toBe(1000);
  });
});

describe("LiveSocket", () => {
  it("comes back after a loss, waiting longer each time until something came", () => {
    const { socket, timers, states, last, opened } = setUp();
    socket.open();
    last().onClose(1006, "");
    expect(states.at(-1)).toEqual({
      state: "waiting",
      attempt: 1,
      retry_unix_ms: 1500,
      reason: "the connection was lost",
    });
    timers.pop()?.call();
    last().onClose(1006, "");
    expect(states.at(-1)).toMatchObject({ state: "waiting", attempt: 2, retry_unix_ms: 2000 });
    timers.pop()?.call();
    last().onOpen();
    expect(states.at(-1)).toEqual({ state: "open", since_unix_ms: 1000 });
    expect(opened()).toBe(1);
    last().onMessage("{}");
    last().onClose(1006, "");
    expect(states.at(-1)).toMatchObject({ state: "waiting", attempt: 1, retry_unix_ms: 1500 });
  });

  it.each([
    [CloseCode.unauthenticated, "denied"],
    [CloseCode.forbidden_origin, "denied"],
    [CloseCode.protocol_version, "refused"],
    [CloseCode.bad_message, "refused"],
    [1009, "refused"],
  ])("does not come back by itself after %d", (code, state) => {
    const { socket, timers, states, sockets, last } = setUp();
    socket.open();
    last().onClose(code, "because");
    expect(states.at(-1)).toEqual({ state, code, reason: "because" });
    expect(timers).toEqual([]);
    socket.open();
    expect(sockets).toHaveLength(2);
  });

  it("tries again at once when asked, and only once", () => {
    const { socket, timers, sockets, last } = setUp();
    socket.open();
    last().onClose(CloseCode.too_many, "");
    expect(timers).toHaveLength(1);
    socket.open();
    expect(timers).toEqual([]);
    expect(sockets).toHaveLength(2);
  });

  it("offers its session as a subprotocol, and is closed without one", () => {
    const { socket, states, offered, last } = setUp();
    socket.open();
    expect(offered).toEqual([["tidscope.v1", "tidscope.session.tds_1"]]);
    last().onClose(CloseCode.unauthenticated, "");
    socket.authorize(null);
    expect(states.at(-1)).toEqual({ state: "closed" });
    socket.open();
    expect(offered).toHaveLength(1);
    socket.authorize("tds_2");
    expect(offered.at(-1)).toEqual(["tidscope.v1", "tidscope.session.tds_2"]);
  });

  it("stays closed", () => {
    const { socket, timers, states, last } = setUp();
    socket.open();
    socket.close();
    last().onClose(1006, "");
    expect(states.at(-1)).toEqual({ state: "closed" });
    expect(timers).toEqual([]);
  });
});
