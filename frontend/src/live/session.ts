/**
 * What the worker does: takes frames in, from the socket or out of a run, and makes views when they
 * are due. All that is outside (socket, timers, clock, the page) comes in as arguments.
 */

import type { RunSource } from "../model/runWindow";
import { TargetModel } from "../model/targetModel";
import { healthView, ViewBuilder } from "../model/viewBuilder";
import type { ChartRequest, ViewRequest } from "../model/viewRequest";
import { DEFAULT_REQUEST } from "../model/viewRequest";
import { spanOf } from "../model/window";
import type { FromWorker, ProbeFrame, ToWorker } from "../model/workerProtocol";
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
import { RunFeed } from "./runFeed";

/** Views are made at most this often, and take no more than about a fifth of the time. */
const LEAST_MS = 50;
const MOST_MS = 500;
const SHARE = 5;
/** Rounds whose cost counts: the cheapest of them, for a busy machine makes single ones look dear. */
const ROUNDS = 8;
/** A person who drags wants to see it move. */
const ASKED_MS = 30;
const TICK_MS = 1000;
/** Frames are acknowledged at least this often; the backend sends no more than 1 MiB ahead. */
const ACK_FRAMES = 8;
const ACK_BYTES = 1 << 16;
/** A page that does not say that it drew the last views gets the next ones after so long. */
const PATIENCE_MS = 1000;

export interface SessionEnvironment extends SocketEnvironment {
  /** To the page; the buffers change hands. */
  readonly post: (message: FromWorker, transfer: ArrayBuffer[]) => void;
  /** A clock that only runs forward, ms. */
  readonly clock_ms: () => number;
  /** Reads the frames of a run. */
  readonly read: ReadFrames;
}

export class LiveSession {
  private socket: LiveSocket | null = null;
  /** The run that is read instead, and what reads it. */
  private run: RunSource | null = null;
  private feed: RunFeed | null = null;
  private credential: string | null = null;
  private live: LiveState | null = null;
  private stats: StreamStats | null = null;
  private followed: string | null = null;
  private model = new TargetModel();
  private readonly decoder = new FrameDecoder();
  private builder = new ViewBuilder(this.model);
  private request: ViewRequest = DEFAULT_REQUEST;
  private charts: readonly ChartRequest[] = [];
  private visible = true;
  private probe = false;
  private probed: ProbeFrame[] = [];
  /** Of this connection. */
  private received = 0;
  private unackedFrames = 0;
  private unackedBytes = 0;
  private badFrames = 0;
  private badReason = "";
  private latency_ms: number | null = null;
  private lastFrame_ms = Number.NaN;
  private made_ms = Number.NEGATIVE_INFINITY;
  /** When views were posted that the page has not drawn yet. */
  private undrawn_ms: number | null = null;
  private summary_ms = Number.NEGATIVE_INFINITY;
  private costs_ms: number[] = [];
  private cancelMake: (() => void) | null = null;
  private due_ms = Number.POSITIVE_INFINITY;
  private cancelTick: (() => void) | null = null;

  constructor(private readonly env: SessionEnvironment) {}

  /** A message of the page. */
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
      case "request":
        this.request = message.request;
        this.charts = message.charts;
        this.feed?.keep(this.request.map?.field ?? null);
        this.feed?.see(spanOf(this.request.window, this.run?.to_s ?? 0));
        this.builder.ask(this.request, this.charts);
        this.schedule(ASKED_MS);
        break;
      case "visible":
        this.visible = message.visible;
        if (this.visible) this.makeAll();
        break;
      case "drawn":
        this.undrawn_ms = null;
        if (this.cancelMake) this.schedule(LEAST_MS);
        break;
      case "retry":
        this.socket?.open();
        break;
      case "close":
        this.cancelMake?.();
        this.cancelTick?.();
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
        onGrown: () => this.schedule(LEAST_MS),
        onReading: (reading) => {
          this.env.post({ type: "reading", reading }, []);
          // Nothing comes after it that would have what is made now and then made.
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

  /** Views are made of this model from now on. */
  private makeOf(model: TargetModel): void {
    this.model = model;
    this.builder = new ViewBuilder(model, this.env.clock_ms);
    this.makeAll();
  }

  private makeAll(): void {
    this.builder.ask(this.request, this.charts);
    this.schedule(0);
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
    this.tick();
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
    this.makeOf(new TargetModel());
    this.subscribe();
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
        this.env.post({ type: "live", live: message }, []);
        this.builder.ask(this.request, this.charts);
        this.schedule(LEAST_MS);
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
        this.schedule(LEAST_MS);
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
        this.probed.push({ target, seq, first_seq, unix_us, received_unix_ms });
        if (this.probed.length > 1000) this.probed.shift();
      }
    } catch (error) {
      this.noteBad(error instanceof Error ? error.message : String(error));
    }
    if (!this.builder.paused) this.schedule(LEAST_MS);
  }

  /** The backend does not send its state again for each decision: frames carry them. */
  private applyDecisions(header: FrameHeader): void {
    const live = this.live === null ? null : withDecisions(this.live, header);
    if (live === null || live === this.live) return;
    this.live = live;
    this.env.post({ type: "live", live }, []);
  }

  /** A busy page is sent fewer, coalesced frames instead of falling behind without end. */
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
    // Frames of the past (replayed) and clocks that disagree say nothing about latency.
    this.latency_ms = ms >= 0 && ms < 10_000 ? ms : null;
  }

  /** Make views, but not sooner than `least_ms` after the last ones. */
  private schedule(least_ms: number): void {
    if (!this.visible || this.followed === null) return;
    const now = this.env.clock_ms();
    const cost_ms = this.costs_ms.length > 0 ? Math.min(...this.costs_ms) : 0;
    const rest = Math.min(MOST_MS, Math.max(least_ms, SHARE * cost_ms));
    // A page that is slow would else get views faster than it draws them, and answer nothing more.
    const drawn = this.undrawn_ms === null ? now : this.undrawn_ms + PATIENCE_MS;
    const due = Math.max(now, this.made_ms + rest, drawn);
    if (this.cancelMake && this.due_ms <= due) return;
    this.cancelMake?.();
    this.due_ms = due;
    // Even when due at once it waits for its turn: a burst of frames then makes one view.
    this.cancelMake = this.env.later(() => {
      this.cancelMake = null;
      this.make();
    }, due - now);
  }

  private make(): void {
    const id = this.followed;
    if (id === null) return;
    const start = this.env.clock_ms();
    const target = this.targetOf(id);
    // A run is never silent: it is all there.
    const silent_ms = this.run ? 0 : start - this.lastFrame_ms;
    const views = this.builder.make(target, start, silent_ms);
    const summary = views.tiles !== null || start - this.summary_ms >= 500;
    if (summary) this.summary_ms = start;
    const { stats: stream, latency_ms, badFrames: bad_frames, badReason } = this;
    const way = { stream, latency_ms, bad_frames, bad_frame_reason: badReason };
    const buffers = new Set<ArrayBufferLike>();
    for (const { time_s, low, high } of views.charts) {
      for (const array of [time_s, low, high]) buffers.add(array.buffer);
    }
    const { map } = views;
    if (map) {
      const { values, highest, peak, born, exited } = map;
      for (const array of [values, highest, peak, born, exited]) buffers.add(array.buffer);
    }
    const transfer = [...buffers].filter((buffer) => buffer instanceof ArrayBuffer);
    const frames = this.probed;
    this.probed = [];
    this.env.post(
      {
        type: "views",
        id,
        target: summary ? { ...views.target, id } : null,
        health: summary ? healthView(this.model, target, way) : null,
        charts: views.charts,
        tiles: views.tiles,
        table: views.table,
        events: views.events,
        steer: views.steer,
        map,
        frames,
      },
      transfer,
    );
    this.made_ms = this.env.clock_ms();
    this.undrawn_ms = this.made_ms;
    // Rounds with tables and tiles are rare and may wait; it is the plain ones that set the pace.
    if (views.tiles === null)
      this.costs_ms = [...this.costs_ms.slice(1 - ROUNDS), this.made_ms - start];
  }

  private targetOf(id: string): Target | null {
    if (this.run) return this.run.target;
    return this.live?.targets.find((target) => target.id === id) ?? null;
  }

  /** Once a second, so that silence is seen. */
  private tick(): void {
    this.cancelTick = this.env.later(() => {
      if (this.env.clock_ms() - this.summary_ms >= TICK_MS) this.schedule(0);
      this.tick();
    }, TICK_MS);
  }
}
