/**
 * Core of the worker: ingests frames from the socket or a run, and computes views when due.
 * External dependencies (socket, timers, clock, the page) are arguments. Folder `stream`: frames
 * in, finished views out. It must not know charts or components.
 */

import { checkLiveMessage } from "../wire/check";
import { FrameDecoder } from "../wire/frame";
import { CloseCode } from "../wire/generated/closeCode";
import type {
  FrameHeader,
  LiveCommand,
  LiveState,
  StreamStats,
  Target,
} from "../wire/generated/models";
import { type Connection, LiveSocket, type SocketEnvironment } from "../wire/liveSocket";
import type { ReadFrames } from "../wire/runFrames";
import { withDecisions } from "./decisions";
import { sameRules } from "./role";
import { RunFeed } from "./runFeed";
import type { RunSource } from "./runWindow";
import { TargetModel } from "./targetModel";
import { healthView } from "./targetView";
import { ViewBuilder } from "./viewBuilder";
import type { ChartRequest, ViewRequest } from "./viewRequest";
import { DEFAULT_REQUEST } from "./viewRequest";
import { ViewSchedule } from "./viewSchedule";
import { spanOf } from "./window";
import type { FromWorker, ProbeFrame, ToWorker, ViewBatch } from "./workerProtocol";

/** Maximum number of unacknowledged frames; the backend sends at most 1 MiB ahead. */
const ACK_FRAMES = 8;
const ACK_BYTES = 1 << 16;

export interface SessionEnvironment extends SocketEnvironment {
  /** Send to the page; ownership of the buffers is transferred. */
  readonly post: (message: FromWorker, transfer: ArrayBuffer[]) => void;
  /** A monotonic clock, ms. */
  readonly clock_ms: () => number;
  /** Reads the frames of a run. */
  readonly read: ReadFrames;
}

export class LiveSession {
  private socket: LiveSocket | null = null;
  /** Run that is read instead of live data, and its feed. */
  private run: RunSource | null = null;
  private feed: RunFeed | null = null;
  private credential: string | null = null;
  private live: LiveState | null = null;
  private stats: StreamStats | null = null;
  private followed: string | null = null;
  private model = new TargetModel();
  private readonly decoder = new FrameDecoder();
  private builder: ViewBuilder;
  private readonly schedule: ViewSchedule;
  private request: ViewRequest = DEFAULT_REQUEST;
  private charts: readonly ChartRequest[] = [];
  private probe = false;
  private probed: Omit<ProbeFrame, "made_unix_ms">[] = [];
  /** Frames received on this connection. */
  private received = 0;
  private unackedFrames = 0;
  private unackedBytes = 0;
  private badFrames = 0;
  private badReason = "";
  private latency_ms: number | null = null;
  private lastFrame_ms = Number.NaN;

  constructor(private readonly env: SessionEnvironment) {
    this.builder = new ViewBuilder(this.model, env.clock_ms);
    const rounds = {
      move: () => this.followed !== null && this.postMoving(),
      read: () => this.followed !== null && this.postPart(),
      readDue_ms: () => (this.followed === null ? Number.POSITIVE_INFINITY : this.builder.due_ms),
    };
    this.schedule = new ViewSchedule(rounds, env);
  }

  /** Handle a message of the page. */
  receive(message: ToWorker): void {
    switch (message.type) {
      case "open":
        this.probe = message.probe;
        this.credential = message.credential;
        this.open(message.url);
        break;
      case "open_run":
        this.credential = message.credential;
        this.openRun(message.run);
        break;
      case "authorize":
        this.credential = message.credential;
        this.socket?.authorize(message.credential);
        break;
      case "follow":
        this.follow(message.target);
        break;
      case "request": {
        const { role_rules } = this.request;
        this.request = message.request;
        this.charts = message.charts;
        if (!sameRules(role_rules, this.request.role_rules)) this.applyOwnRoles();
        this.feed?.keep(this.request.map?.field ?? null);
        this.feed?.see(spanOf(this.request.window, this.run?.to_s ?? 0));
        this.builder.ask(this.request, this.charts);
        this.schedule.asked();
        break;
      }
      case "visible":
        if (message.visible) this.builder.askAll();
        this.schedule.setRunning(message.visible);
        break;
      case "drawn":
        this.schedule.drawn();
        break;
      case "retry":
        this.socket?.open();
        break;
      case "close":
        this.schedule.stop();
        this.socket?.close();
        this.feed?.close();
        break;
    }
  }

  private openRun(run: RunSource): void {
    this.run = run;
    this.followed = run.id;
    this.feed = new RunFeed(
      run,
      {
        onModel: (model) => this.makeOf(model),
        onGrown: () => this.schedule.changed(),
        onReading: (reading) => {
          this.env.post({ type: "reading", reading }, []);
          // No later frame would trigger the views.
          if (reading.state === "ready") this.makeAll();
        },
        onOutline: (outline) => this.env.post({ type: "outline", outline }, []),
        onBad: (reason) => this.noteBad(reason),
      },
      {
        later: this.env.later,
        read: (url, onFrame, signal) => this.env.read(url, onFrame, signal, this.credential),
      },
    );
    this.feed.open();
  }

  /** Compute views from another model. */
  private makeOf(model: TargetModel): void {
    this.model = model;
    this.builder = new ViewBuilder(model, this.env.clock_ms);
    this.builder.ask(this.request, this.charts);
    this.makeAll();
  }

  private makeAll(): void {
    this.builder.askAll();
    this.schedule.asked();
  }

  private open(url: string): void {
    this.socket = new LiveSocket(
      url,
      this.credential,
      {
        onState: (connection) => this.onConnection(connection),
        onOpen: () => {
          this.received = this.unackedFrames = this.unackedBytes = 0;
          this.send({ type: "frame_ack", frames: 0 });
          this.subscribe();
        },
        onText: (text) => this.onMessage(text),
        onBinary: (data) => {
          this.onFrame(data);
          this.acknowledge(data.byteLength);
        },
      },
      this.env,
    );
    this.socket.open();
  }

  private onConnection(connection: Connection): void {
    this.env.post({ type: "connection", connection }, []);
    const { credential } = this;
    if (
      credential !== null &&
      connection.state === "denied" &&
      connection.code === CloseCode.unauthenticated
    ) {
      this.env.post({ type: "unauthorized", credential }, []);
    }
  }

  private send(command: LiveCommand): void {
    this.socket?.send(JSON.stringify(command));
  }

  private subscribe(): void {
    if (this.followed === null) return;
    const after_seq = this.model.seq > 0 ? this.model.seq : null;
    this.send({ type: "subscribe", target: this.followed, after_seq });
  }

  private follow(target: string | null): void {
    if (target === this.followed) return;
    if (this.followed !== null) this.send({ type: "unsubscribe", target: this.followed });
    this.followed = target;
    this.probed = [];
    this.badFrames = 0;
    this.badReason = "";
    this.latency_ms = null;
    this.lastFrame_ms = this.env.clock_ms();
    this.begin();
  }

  private begin(): void {
    this.makeOf(new TargetModel());
    this.applyRules();
    this.subscribe();
  }

  /** Apply the user's role rules, followed by the collector's. */
  private applyRules(): void {
    if (this.run !== null) return;
    const target = this.live?.targets.find(({ id }) => id === this.followed);
    this.model.threads.applyRules([...this.request.role_rules, ...(target?.role_rules ?? [])]);
  }

  /** Apply changed rules of the user: a run is read again, so that its past matches. */
  private applyOwnRoles(): void {
    this.feed?.applyOwnRoles(this.request.role_rules);
    if (this.run !== null || this.followed === null) return;
    if (this.model.seq > 0) {
      this.send({ type: "unsubscribe", target: this.followed });
      this.begin();
    } else this.applyRules();
  }

  private onMessage(text: string): void {
    const message = checkLiveMessage(text);
    if (typeof message === "string") {
      this.noteBad(`message of the backend: ${message}`);
      return;
    }
    switch (message.type) {
      case "live_state":
        this.live = message;
        this.applyRules();
        this.env.post({ type: "live", live: message }, []);
        this.builder.askAll();
        this.schedule.changed();
        break;
      case "stream_stats":
        this.stats = message;
        break;
      case "live_problem":
        this.env.post({ type: "problem", problem: message.problem }, []);
        break;
      case "frames_lost":
        if (message.target !== this.followed) break;
        this.model.noteLost(message);
        this.schedule.changed();
        break;
    }
  }

  private onFrame(data: ArrayBuffer): void {
    const received_unix_ms = this.env.now_ms();
    try {
      const frame = this.decoder.decode(data);
      const { header } = frame;
      if (header.target !== this.followed || !this.model.ingest(frame)) return;
      this.lastFrame_ms = this.env.clock_ms();
      this.applyDecisions(header);
      this.noteLatency(received_unix_ms - header.unix_us / 1000);
      if (this.probe) {
        const { target, seq, first_seq, unix_us } = header;
        const held_unix_ms = this.env.now_ms();
        this.probed.push({ target, seq, first_seq, unix_us, received_unix_ms, held_unix_ms });
        if (this.probed.length > 1000) this.probed.shift();
      }
    } catch (error) {
      this.noteBad(error instanceof Error ? error.message : String(error));
    }
    if (!this.builder.paused) this.schedule.changed();
  }

  /** Apply a frame's decisions: the backend does not repeat its state for each decision. */
  private applyDecisions(header: FrameHeader): void {
    const live = this.live === null ? null : withDecisions(this.live, header);
    if (live === null || live === this.live) return;
    this.live = live;
    this.env.post({ type: "live", live }, []);
  }

  /**
   * Acknowledge received bytes: a busy page gets fewer, coalesced frames instead of falling behind.
   */
  private acknowledge(bytes: number): void {
    this.received++;
    this.unackedFrames++;
    this.unackedBytes += bytes;
    if (this.unackedFrames < ACK_FRAMES && this.unackedBytes < ACK_BYTES) return;
    this.unackedFrames = this.unackedBytes = 0;
    this.send({ type: "frame_ack", frames: this.received });
  }

  private noteBad(reason: string): void {
    this.badFrames++;
    this.badReason = reason;
  }

  private noteLatency(ms: number): void {
    // Replayed frames and unsynchronised clocks yield no valid latency.
    this.latency_ms = ms >= 0 && ms < 10_000 ? ms : null;
  }

  /** Post visible charts and the map, with the latencies of frames shown for the first time. */
  private postMoving(): boolean {
    const views = this.builder.moving(this.target);
    if (!views.charts && !views.map && !views.steer && !views.axis) return false;
    const made_unix_ms = this.env.now_ms();
    const frames = this.probed.map((frame) => ({ ...frame, made_unix_ms }));
    this.probed = [];
    this.post(frames.length > 0 ? { ...views, frames } : views);
    return true;
  }

  /** Post one text part. */
  private postPart(): boolean {
    const { target } = this;
    // A run is never silent: it is complete.
    const silent_ms = this.run ? 0 : this.env.clock_ms() - this.lastFrame_ms;
    const views = this.builder.part(target, silent_ms);
    if (Object.keys(views).length === 0) return false;
    if (!views.target) {
      this.post(views);
      return true;
    }
    const { stats: stream, latency_ms, badFrames: bad_frames, badReason, followed } = this;
    const way = { stream, latency_ms, bad_frames, bad_frame_reason: badReason };
    const health = healthView(this.model, target, way);
    this.post({ ...views, target: { ...views.target, id: followed ?? "" }, health });
    return true;
  }

  private post(views: Omit<ViewBatch, "id">): void {
    if (this.followed === null) return;
    this.env.post({ type: "views", id: this.followed, ...views }, buffersOf(views));
  }

  private get target(): Target | null {
    if (this.run) return this.run.target;
    return this.live?.targets.find((target) => target.id === this.followed) ?? null;
  }
}

/** Buffers to transfer instead of copying. */
function buffersOf({ charts = [], map }: Omit<ViewBatch, "id">): ArrayBuffer[] {
  const arrays: Pick<Float64Array, "buffer">[] = charts.flatMap(({ time_s, low, high }) => [
    time_s,
    low,
    high,
  ]);
  if (map) arrays.push(map.values, map.highest, map.shares, map.peak, map.born, map.exited);
  const buffers = new Set(arrays.map(({ buffer }) => buffer));
  return [...buffers].filter((buffer) => buffer instanceof ArrayBuffer);
}
