import { beforeEach, describe, expect, it } from "vitest";
import { encodeFrame, type FrameChanges, frame, type Row, TARGET } from "../testing/frames";
import type { SocketHandlers } from "../wire/liveSocket";
import { LiveSession } from "./session";
import { DEFAULT_REQUEST, type ViewRequest } from "./viewRequest";
import type { FromWorker } from "./workerProtocol";

const ROW: Row = { tid: 1, start_s: -1, name: "main", counters: { cpu_run_ns: 1e9 } };

/** A session in a world with a manual clock. */
class World {
  now = 1_700_000_000_000;
  readonly posted: FromWorker[] = [];
  readonly sent: unknown[] = [];
  readonly sockets: SocketHandlers[] = [];
  private timers: { at: number; call: () => void }[] = [];
  readonly session = new LiveSession({
    connect: (_, __, handlers) => {
      this.sockets.push(handlers);
      return { send: (text) => this.sent.push(JSON.parse(text)), close: () => undefined };
    },
    later: (call, ms) => {
      return this.later(call, ms);
    },
    now_ms: () => this.now,
    clock_ms: () => this.now,
    random: () => 0,
    read: () => Promise.reject(new Error("no run here")),
    post: (message) => {
      this.posted.push(message);
      if (message.type === "views" && this.draws) this.later(() => this.drew(), 16);
    },
  });

  /** Whether the page draws views, and reports that. */
  draws = true;

  drew(): void {
    this.session.receive({ type: "drawn" });
  }

  private later(call: () => void, ms: number): () => void {
    const timer = { at: this.now + ms, call };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  pass(ms: number): void {
    const end = this.now + ms;
    for (;;) {
      const [next] = this.timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.timers = this.timers.filter((timer) => timer !== next);
      this.now = Math.max(this.now, next.at);
      next.call();
    }
    this.now = end;
  }

  socket(): SocketHandlers {
    return this.sockets.at(-1) ?? expect.fail("no socket");
  }

  frame(changes: FrameChanges, rows: Row[] = [ROW]): void {
    this.socket().onMessage(encodeFrame(frame(changes, rows)));
  }

  request(part: Partial<ViewRequest>): void {
    const charts = [{ chart: "cpu_total", width_px: 100, in_view: true }] as const;
    this.session.receive({ type: "request", request: { ...DEFAULT_REQUEST, ...part }, charts });
  }

  views() {
    return this.posted.filter((message) => message.type === "views");
  }

  /** Views of the requested chart. */
  charts() {
    return this.views().flatMap(({ charts = [] }) => charts);
  }

  /** The newest views of the target, and its data quality. */
  summary() {
    return this.views().findLast(({ target }) => target);
  }
}

let world = new World();

beforeEach(() => {
  world = new World();
  world.session.receive({
    type: "open",
    url: "ws://here/ws/live",
    probe: true,
    credential: "tds_1",
  });
  world.socket().onOpen();
  world.socket().onMessage(JSON.stringify({ type: "live_state", hosts: [], targets: [TARGET] }));
  world.request({});
  world.session.receive({ type: "follow", target: TARGET.id });
});

describe("LiveSession", () => {
  it("subscribes, and after a loss asks for what it does not have", () => {
    expect(world.sent).toEqual([
      { type: "frame_ack", frames: 0 },
      { type: "subscribe", target: TARGET.id, after_seq: null },
    ]);
    world.frame({ seq: 1 });
    world.frame({ seq: 2 });
    world.socket().onClose(1006, "");
    world.pass(500);
    expect(world.sockets).toHaveLength(2);
    world.socket().onOpen();
    expect(world.sent.at(-1)).toEqual({ type: "subscribe", target: TARGET.id, after_seq: 2 });
  });

  it("tells what it has dealt with, again in each connection", () => {
    const reported = () => world.sent.slice(2);
    for (let seq = 1; seq <= 7; seq++) world.frame({ seq });
    expect(reported()).toEqual([]);
    for (let seq = 8; seq <= 17; seq++) world.frame({ seq });
    expect(reported()).toEqual([
      { type: "frame_ack", frames: 8 },
      { type: "frame_ack", frames: 16 },
    ]);
    const wide = Array.from({ length: 2000 }, (_, n) => ({ ...ROW, tid: n + 1 }));
    world.frame({ seq: 18 }, wide);
    expect(world.sent.at(-1)).toEqual({ type: "frame_ack", frames: 18 });
    world.socket().onClose(1006, "");
    world.pass(500);
    world.socket().onOpen();
    expect(world.sent.at(-2)).toEqual({ type: "frame_ack", frames: 0 });
  });

  it("makes one view of a burst of frames, with all that it is the first to contain", () => {
    world.pass(1100);
    const before = world.charts().length;
    for (let seq = 1; seq <= 20; seq++) world.frame({ seq });
    world.pass(10);
    expect(world.charts()).toHaveLength(before + 1);
    const last = world.views().at(-1);
    expect(last?.charts?.[0]).toMatchObject({ chart: "cpu_total", state: "ok", columns: 20 });
    expect(last?.frames?.map((entry) => entry.seq)).toEqual(
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
    expect(last?.frames?.[0]).toMatchObject({ received_unix_ms: 1_700_000_001_100 });
  });

  it("gives a page that is slow what it draws next, no more, and the newest then", () => {
    world.pass(1100);
    world.draws = false;
    for (let seq = 1; seq <= 4; seq++) {
      world.frame({ seq });
      world.pass(100);
    }
    // One view being drawn, and one queued.
    expect(world.charts()).toHaveLength(2);
    world.drew();
    world.pass(60);
    expect(world.charts()).toHaveLength(3);
    expect(world.charts().at(-1)).toMatchObject({ columns: 4 });
    // A browser that never reports drawing (such as for a hidden tab) still gets views.
    world.frame({ seq: 5 });
    world.pass(1100);
    expect(world.charts().at(-1)).toMatchObject({ columns: 5 });
  });

  it("does nothing while nothing comes, but notices the silence", () => {
    world.frame({ seq: 1 });
    world.pass(2000);
    const before = world.views().length;
    world.pass(10_000);
    expect(world.summary()?.target?.state).toBe("quiet");
    const later = world.views().slice(before);
    expect(later.length).toBeLessThan(12);
    expect(later.every(({ target, charts, table }) => target && !charts && !table)).toBe(true);
  });

  it("freezes views while paused, and goes on taking data in", () => {
    world.frame({ seq: 1 });
    world.frame({ seq: 2 });
    world.pass(100);
    world.request({ paused: true });
    world.pass(100);
    const frozen = world.charts().at(-1);
    for (let seq = 3; seq <= 9; seq++) world.frame({ seq });
    world.pass(5000);
    const still = world.charts().at(-1);
    expect(still?.columns).toBe(frozen?.columns);
    expect(still?.t1_s).toBe(frozen?.t1_s);
    world.request({ paused: false });
    world.pass(100);
    expect(world.charts().at(-1)?.columns).toBe(9);
  });

  it("makes no views for a hidden page, and shows all of it when it comes back", () => {
    world.pass(1000);
    world.session.receive({ type: "visible", visible: false });
    const before = world.views().length;
    for (let seq = 1; seq <= 5; seq++) world.frame({ seq });
    world.pass(5000);
    expect(world.views()).toHaveLength(before);
    world.session.receive({ type: "visible", visible: true });
    world.pass(10);
    expect(world.charts().at(-1)?.columns).toBe(5);
  });

  it("counts frames that it cannot read, and says why", () => {
    world.frame({ seq: 1 });
    world.socket().onMessage(new ArrayBuffer(2));
    world.frame({ seq: 2 });
    world.pass(1000);
    expect(world.summary()?.health).toMatchObject({
      frames: 2,
      bad_frames: 1,
      bad_frame_reason: "a frame has at least 4 bytes, this one 2",
    });
  });

  it("leaves out frames of targets that it does not follow", () => {
    world.frame({ seq: 1, target: "t-2-00000000" });
    world.pass(1000);
    expect(world.summary()?.target?.state).toBe("loading");
  });

  it("starts from nothing with another target", () => {
    world.frame({ seq: 5 });
    world.session.receive({ type: "follow", target: "t-9-00000000" });
    expect(world.sent.slice(-2)).toEqual([
      { type: "unsubscribe", target: TARGET.id },
      { type: "subscribe", target: "t-9-00000000", after_seq: null },
    ]);
    world.frame({ seq: 1, target: "t-9-00000000" });
    world.pass(1000);
    expect(world.summary()?.health).toMatchObject({ frames: 1, gaps: 0 });
  });

  it("shows frames that the backend says are lost: an event, a gap in charts, data quality", () => {
    world.frame({ seq: 1 });
    world.frame({ seq: 2 });
    const lost = {
      type: "frames_lost",
      from_seq: 3,
      to_seq: 9,
      reason: "the page was too far behind",
    };
    world.socket().onMessage(JSON.stringify({ ...lost, target: TARGET.id }));
    world.pass(1000);
    expect(
      world
        .views()
        .findLast((view) => view.events)
        ?.events?.events.at(-1)?.event,
    ).toEqual({
      ...{ type: "gap", from_seq: 3, to_seq: 9, reason: "the page was too far behind" },
    });
    expect(world.summary()?.health).toMatchObject({ missing_frames: 7, gaps: 1 });
    world.frame({ seq: 10 });
    world.frame({ seq: 11 });
    world.pass(1000);
    expect(world.charts().at(-1)?.gaps).toEqual([[0.2, 1]]);
    expect(world.summary()?.health).toMatchObject({ missing_frames: 7, gaps: 1 });
  });

  it("passes refusals on", () => {
    const problem = { type: "urn:x", title: "No", status: 404, detail: "d", hint: "h" };
    world.socket().onMessage(JSON.stringify({ type: "live_problem", problem }));
    expect(world.posted.at(-1)).toEqual({ type: "problem", problem });
  });
});
