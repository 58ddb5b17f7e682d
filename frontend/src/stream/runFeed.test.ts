import { beforeEach, describe, expect, it } from "vitest";
import { encodeFrame, frame } from "../testing/frames";
import { extremesOf, HOUR } from "../testing/runs";
import type { RunSource } from "./runWindow";
import { LiveSession } from "./session";
import { DEFAULT_REQUEST, type ViewRequest } from "./viewRequest";
import type { FromWorker } from "./workerProtocol";

interface Asked {
  readonly from_s: number;
  readonly to_s: number;
  readonly instants: number;
  readonly signal: AbortSignal;
}

const BEGAN = {
  type: "steering_started",
  policy: "bidirectional",
  reason: "asked for",
  actor: "",
  knob: "pool-agent",
  signal: "agent-ops",
  signal_detail: "",
  proxy: false,
  interval_s: 1,
  lower: 1,
  upper: 8,
  size: 4,
  original: 4,
  shadow: false,
  pid: 1,
} as const;

/** Encoding dominates the run time here, and the hour is the same in all tests. */
const made = new Map<string, readonly ArrayBuffer[]>();

function framesOf(run_from_s: number, { from_s, to_s, instants }: Asked): readonly ArrayBuffer[] {
  const key = [from_s, to_s, instants].join();
  const known = made.get(key);
  if (known) return known;
  const step = Math.max(0.1, (to_s - from_s) / instants);
  const frames: ArrayBuffer[] = [];
  let before = 0;
  for (let t_s = from_s; t_s <= to_s + 1e-6; t_s += step) {
    const seq = Math.round((t_s - run_from_s) * 10) + 1;
    const cpu_run_ns = Math.round(5e9 + Math.max(0, t_s - 1900) * 1e9);
    const counters = { cpu_run_ns, major_faults: Math.round(100 * t_s) };
    const identity = before === 0 ? { start_s: 1, name: "worker" } : {};
    const began = before < 4001 && seq >= 4001 && from_s <= 500;
    const events = began ? [BEGAN] : [];
    const first_seq = before === 0 ? seq : before + 1;
    frames.push(
      encodeFrame(frame({ seq, first_seq, t_s, events }, [{ tid: 1, ...identity, counters }])),
    );
    before = seq;
  }
  made.set(key, frames);
  return frames;
}

/**
 * A backend with an hour of one thread that uses a core in the second half, and a policy from 500 s
 * on. It answers on request.
 */
class World {
  now = 0;
  readonly posted: FromWorker[] = [];
  readonly asked: Asked[] = [];
  private answers: (() => void)[] = [];
  private timers: { at: number; call: () => void }[] = [];
  readonly session: LiveSession;
  failure = "";
  /** The backend's extremes between instants; null if unknown. */
  extremes: ArrayBuffer | null = null;
  readonly extremesAsked: string[] = [];

  constructor(private readonly run: RunSource) {
    this.session = new LiveSession({
      connect: () => expect.fail("a run needs no socket"),
      later: (call, ms) => this.later(call, ms),
      now_ms: () => this.now,
      clock_ms: () => this.now,
      random: () => 0,
      read: (url, onFrame, signal) => this.read(url, onFrame, signal),
      post: (message) => {
        this.posted.push(message);
        if (message.type === "views") this.later(() => this.session.receive({ type: "drawn" }), 16);
      },
    });
    this.session.receive({ type: "open_run", run, credential: null });
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

  private async read(
    url: string,
    onFrame: (bytes: ArrayBuffer) => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (url.includes("/extremes?")) {
      this.extremesAsked.push(url);
      await new Promise<void>((resolve) => this.answers.push(resolve));
      if (this.extremes) onFrame(this.extremes);
      return;
    }
    const query = new URL(url, "http://here").searchParams;
    const number = (name: string) => Number(query.get(name));
    const [from_s, to_s] = [number("from_ns") / 1e9, number("to_ns") / 1e9];
    const asked = { from_s, to_s, instants: number("instants"), signal };
    this.asked.push(asked);
    await new Promise<void>((resolve) => this.answers.push(resolve));
    signal.throwIfAborted();
    if (this.failure !== "") throw new Error(this.failure);
    for (const bytes of framesOf(this.run.from_s, asked)) onFrame(bytes);
  }

  /** Answer the pending request, and run all its consequences. */
  async answer(): Promise<void> {
    const waiting = this.answers;
    this.answers = [];
    for (const each of waiting) each();
    // Promises settle between timers.
    await new Promise((resolve) => setTimeout(resolve, 0));
    this.pass(1000);
  }

  see(
    t0_s: number,
    t1_s: number,
    part: Partial<ViewRequest> = {},
    chart: "cpu" | "cpu_total" = "cpu_total",
  ): void {
    const request = { ...DEFAULT_REQUEST, ...part, window: { kind: "fixed", t0_s, t1_s } as const };
    const charts = [{ chart, width_px: 600, in_view: true }] as const;
    this.session.receive({ type: "request", request, charts });
  }

  chart() {
    return this.views().findLast((view) => view.charts)?.charts?.[0];
  }

  summary() {
    return this.views().findLast(({ target }) => target)?.target;
  }

  views() {
    return this.posted.filter((message) => message.type === "views");
  }

  reading() {
    return this.posted.findLast((message) => message.type === "reading")?.reading;
  }
}

let world = new World(HOUR);

beforeEach(async () => {
  world = new World(HOUR);
  world.see(100, 3700);
  await world.answer();
});

describe("a session with a run", () => {
  it("reads all of it first, coarsely", () => {
    expect(world.asked).toHaveLength(1);
    expect(world.asked[0]).toMatchObject({ from_s: 100, to_s: 3700, instants: 600 });
    expect(world.reading()).toEqual({ state: "ready", step_s: 6, raw: false, reason: "" });
    const chart = world.chart();
    expect(chart).toMatchObject({ state: "ok", t0_s: 100, t1_s: 3700 });
    // 5 s before the run do not count: sums start with the run.
    expect(chart?.lines[0]?.last).toBeCloseTo(1800, 3);
    expect(world.summary()).toMatchObject({ state: "live", now_s: 3700 });
  });

  it("makes what is made now and then when the last frame is there", async () => {
    const quick = new World(HOUR);
    quick.see(100, 3700, { tiles: true });
    quick.pass(100);
    expect(quick.views().some((view) => view.tiles)).toBe(false);
    await quick.answer();
    const last = quick.views().findLast((view) => view.tiles)?.tiles;
    expect(last?.find((tile) => tile.id === "cpu")).toMatchObject({ state: "ok" });
    expect(quick.summary()).toMatchObject({ now_s: 3700 });
  });

  it("shows how far rates were apart where instants are far apart, and only there", async () => {
    const burst = { tid: 1, start_s: 1, from_s: 1000, to_s: 1010, least: 0, greatest: 0.75 };
    const coarse = new World(HOUR);
    coarse.extremes = extremesOf([burst]);
    coarse.see(100, 3700, { level: "thread" }, "cpu");
    await coarse.answer();
    expect(coarse.extremesAsked).toEqual([
      "/api/v1/runs/r-20261121-130500-1f2e3d/extremes?from_ns=100000000000&to_ns=3700000000000",
    ]);
    const { peaks, columns = 0 } = coarse.chart() ?? {};
    const high = [...(peaks?.high.subarray(0, columns) ?? [])].filter((value) => value > 0);
    expect(high.length).toBeGreaterThan(0);
    expect(new Set(high)).toEqual(new Set([0.75]));
    coarse.see(2000, 2050, { level: "thread" }, "cpu");
    coarse.pass(200);
    await coarse.answer();
    expect(coarse.chart()?.peaks).toBeNull();
    expect(coarse.extremesAsked).toHaveLength(1);
  });

  it("outlines the whole run", () => {
    const outline = world.posted.find((message) => message.type === "outline")?.outline;
    expect(outline).toMatchObject({ from_s: 100, to_s: 3700 });
    expect(outline?.cores).toHaveLength(400);
    expect(outline?.cores[50]).toBe(0);
    expect(outline?.cores[300]).toBeCloseTo(1, 5);
  });

  it("reads the window when that is finer, once it stands still, and keeps the picture until then", async () => {
    world.see(2000, 2100);
    world.pass(100);
    world.see(2000, 2050);
    world.pass(100);
    expect(world.asked).toHaveLength(2);
    expect(world.asked[1]).toMatchObject({ from_s: 1950, to_s: 2075 });
    expect(world.reading()?.state).toBe("loading");
    const coarse = world.chart();
    expect(coarse).toMatchObject({ state: "ok", t0_s: 2000, t1_s: 2050 });
    expect(coarse?.columns).toBeLessThan(25);
    await world.answer();
    expect(world.reading()).toMatchObject({ state: "ready", raw: true });
    expect(world.reading()?.step_s).toBeCloseTo(0.1, 2);
    expect(world.chart()?.columns).toBeGreaterThan(475);
    // Sums equal the coarse picture's: from the start of the run, not of the window.
    expect(world.chart()?.lines[0]?.last).toBeCloseTo(150, 1);
  });

  it("tells numbers of the window's right end, forwards and back", async () => {
    world.see(2000, 2050);
    world.pass(200);
    await world.answer();
    expect(world.summary()?.now_s).toBeCloseTo(2050, 1);
    world.see(2010, 2060);
    world.pass(50);
    expect(world.summary()?.now_s).toBeCloseTo(2060, 1);
    world.see(1980, 2030);
    world.pass(400);
    expect(world.summary()?.now_s).toBeCloseTo(2030, 1);
    expect(world.asked).toHaveLength(2);
  });

  it("remembers what steered before the window", async () => {
    world.see(2000, 2050);
    world.pass(200);
    await world.answer();
    const steer = world.views().findLast((view) => view.steer)?.steer;
    expect(steer?.bands).toMatchObject([{ policy: "bidirectional", to_s: null }]);
    expect(steer?.bands[0]?.from_s).toBeCloseTo(500, -1);
  });

  it("keeps windows it has read, and the whole", async () => {
    world.see(2000, 2050);
    world.pass(200);
    await world.answer();
    world.see(100, 3700);
    world.pass(200);
    world.see(2010, 2020);
    world.pass(400);
    expect(world.asked).toHaveLength(2);
    expect(world.reading()?.raw).toBe(true);
  });

  it("maps a field whose past is not always kept", async () => {
    const map = {
      field: "major_faults",
      mix: "max",
      by: "role",
      open: [],
      width_px: 300,
      rows: 10,
      in_view: true,
    } as const;
    const known = () => {
      const view = world.views().findLast((each) => each.map)?.map;
      return [...(view?.values ?? [])].filter((value) => value > 90 && value < 110).length;
    };
    world.see(100, 3700, { map });
    world.pass(400);
    expect(known()).toBeGreaterThan(280);
    world.see(2000, 2050, { map });
    world.pass(200);
    await world.answer();
    expect(world.reading()?.raw).toBe(true);
    expect(known()).toBeGreaterThan(280);
  });

  it("gives up a window that is left before it came", async () => {
    world.see(2000, 2050);
    world.pass(200);
    world.see(3000, 3050);
    world.pass(200);
    expect(world.asked.map(({ signal }) => signal.aborted)).toEqual([false, true, false]);
    await world.answer();
    expect(world.chart()).toMatchObject({ state: "ok", t0_s: 3000 });
    expect(world.reading()?.raw).toBe(true);
  });

  it("says why it cannot read, keeps the picture, and tries again when the window moves", async () => {
    world.failure = "the run was deleted";
    world.see(2000, 2050);
    world.pass(200);
    await world.answer();
    expect(world.reading()).toMatchObject({ state: "failed", reason: "the run was deleted" });
    expect(world.chart()).toMatchObject({ state: "ok" });
    world.failure = "";
    world.see(2000, 2051);
    world.pass(200);
    await world.answer();
    expect(world.reading()).toMatchObject({ state: "ready", raw: true });
  });
});

it("reads a run again that could not be read, when the window moves", async () => {
  world = new World(HOUR);
  world.failure = "the disk is gone";
  world.see(100, 3700);
  await world.answer();
  expect(world.reading()).toMatchObject({ state: "failed", reason: "the disk is gone" });
  world.failure = "";
  world.see(100, 3600);
  await world.answer();
  expect(world.asked).toHaveLength(2);
  expect(world.reading()).toMatchObject({ state: "ready", reason: "" });
});
