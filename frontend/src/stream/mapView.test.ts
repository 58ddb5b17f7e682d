import { describe, expect, it } from "vitest";
import { type Counters, frame, TARGET } from "../testing/frames";
import type { Target, TargetEvent } from "../wire/generated/models";
import type { ViewInput } from "./chartView";
import type { MapLayout } from "./mapLayout";
import {
  cellValue,
  keyAt,
  type MapPicture,
  type MapView,
  NO_FIELD,
  nextPicture,
  peakInSight,
  placeAt,
  placeOf,
} from "./mapPicture";
import { binsFor, MapMaker } from "./mapView";
import { filterFrom } from "./rank";
import { TargetModel } from "./targetModel";
import { DEFAULT_MAP, DEFAULT_REQUEST, type MapRequest, type ViewRequest } from "./viewRequest";

const SECOND = 1e9;
const TWO_HZ: Target = { ...TARGET, rate_hz: 2 };

/** A page's picture of a target sampled twice a second; columns are half a second. */
class World {
  readonly model = new TargetModel();
  readonly maker = new MapMaker();
  picture: MapPicture | null = null;
  view: MapView | null = null;
  asked: MapRequest = { ...DEFAULT_MAP, width_px: 20, rows: 10 };
  request: ViewRequest = { ...DEFAULT_REQUEST, window: { kind: "last", seconds: 10 } };
  private seq = 0;

  sample(
    counters: Readonly<Record<number, Counters>>,
    events: readonly TargetEvent[] = [],
    names?: Readonly<Record<number, string>>,
  ): void {
    const t_s = this.seq / 2;
    this.seq++;
    const rows = Object.entries(counters).map(([tid, own]) => {
      const identity = names ? { start_s: -1, name: names[Number(tid)] ?? "" } : {};
      return { tid: Number(tid), counters: own, ...identity };
    });
    this.model.ingest(frame({ seq: this.seq, t_s, events }, rows));
  }

  input(): ViewInput {
    const { model, request } = this;
    const { window } = request;
    const now_s = model.now_s;
    const span =
      window.kind === "fixed"
        ? { t0_s: window.t0_s, t1_s: window.t1_s }
        : { t0_s: now_s - window.seconds, t1_s: now_s };
    return { model, target: TWO_HZ, request, filter: filterFrom(request.filter), span, now_s };
  }

  make(slow = true): MapView | null {
    this.view = this.maker.make(this.input(), this.asked, slow, () => 0);
    if (this.view) this.picture = nextPicture(this.picture, this.view);
    return this.view;
  }

  /** Values of a row in the held columns, from `from` on. */
  row(row: number): number[] {
    const { picture } = this;
    if (!picture) return [];
    return Array.from({ length: picture.to - picture.from }, (_, i) => {
      const value = cellValue(picture, picture.from + i, row);
      return Math.round(value * 1e6) / 1e6;
    });
  }
}

const NAMES = { 1: "main", 2: "worker-1", 3: "worker-2" };
const cpu = (seconds: number): Counters => ({ cpu_run_ns: seconds * SECOND });

/** Two seconds: main a whole core, worker-1 half a core, worker-2 nothing. */
function started(): World {
  const world = new World();
  for (let i = 0; i <= 4; i++) {
    const t = i / 2;
    const names = i === 0 ? NAMES : undefined;
    world.sample({ 1: cpu(5 + t), 2: cpu(t / 2), 3: cpu(0) }, [], names);
  }
  return world;
}

const exit = (tid: number, name: string, seconds: number): TargetEvent => ({
  type: "thread_exited",
  tid,
  start_ns: -SECOND,
  name,
  totals: { cpu_run_ns: seconds * SECOND },
  exact: true,
  seen_alive: true,
});

describe("binsFor", () => {
  it("makes columns of whole pixels, no shorter than samples are apart", () => {
    expect(binsFor(60, 1200, 10)).toEqual({ bin_s: 0.1, bin_px: 2 });
    expect(binsFor(60, 1200, 20)).toEqual({ bin_s: 0.05, bin_px: 1 });
    expect(binsFor(600, 1200, 10)).toEqual({ bin_s: 0.5, bin_px: 1 });
    // Samples far apart span several columns: a short life is not drawn as a bar.
    expect(binsFor(60, 1200, 0.5)).toEqual({ bin_s: 0.2, bin_px: 4 });
    expect(binsFor(1, 300, 1).bin_px).toBe(4);
    expect(binsFor(1, 3, 1).bin_px).toBe(3);
  });
});

describe("MapMaker", () => {
  it("shows mean rates in the shown unit, a row a thread", () => {
    const world = started();
    world.make();
    expect(world.view).toMatchObject({ state: "ok", unit: "cores", bin_s: 0.5, from: 0 });
    expect([world.row(0), world.row(1), world.row(2)]).toEqual([
      [1, 1, 1, 1],
      [0.5, 0.5, 0.5, 0.5],
      [0, 0, 0, 0],
    ]);
    expect(world.picture && peakInSight(world.picture)).toBe(1);
  });

  it("sends only what is new, and the page puts it together", () => {
    const world = started();
    world.make();
    world.sample({ 1: cpu(7.5), 2: cpu(1.5) });
    const view = world.make(false);
    // The last column sent, which may have been incomplete, and the new one.
    expect([view?.layout, view?.from, view?.columns]).toEqual([null, 3, 2]);
    expect([world.row(0), world.row(1)]).toEqual([
      [1, 1, 1, 1, 1],
      [0.5, 0.5, 0.5, 0.5, 1],
    ]);
  });

  it("is the same put together as made at once", () => {
    const world = started();
    world.make();
    for (let i = 5; i <= 40; i++) {
      world.sample({ 1: cpu(5 + i / 2), 2: cpu(1 + ((i * 7) % 5) / 10 + i / 4) });
      world.make(i % 3 === 0);
    }
    const parts = [0, 1, 2].map((row) => world.row(row).slice(-20));
    world.asked = { ...world.asked, rows: 9 };
    world.make();
    expect(world.view?.layout).not.toBeNull();
    expect([0, 1, 2].map((row) => world.row(row).slice(-20))).toEqual(parts);
  });

  it("tells born, exited and lost threads from idle ones", () => {
    const world = started();
    world.make();
    const born: TargetEvent = { type: "thread_born", tid: 9, start_ns: 2.2e9, name: "worker-3" };
    world.sample({ 1: cpu(7.5), 9: cpu(0.1) }, [born]);
    world.sample({ 1: cpu(8) }, [exit(2, "worker-1", 1.25)]);
    world.sample({ 1: cpu(8.5) });
    world.make();
    // The first tenth of a second of CPU time counts from the thread's start, 0.3 s before its
    // sample.
    const none = Number.NaN;
    expect(world.row(3)).toEqual([none, none, none, none, 0.333333, 0, 0]);
    expect(world.row(1).slice(3)).toEqual([0.5, 0, 0.5, Number.NaN]);
    expect([...(world.picture?.born ?? [])].slice(0, 7)).toEqual([0, 0, 0, 0, 1, 0, 0]);
    expect([...(world.picture?.exited ?? [])].slice(0, 7)).toEqual([0, 0, 0, 0, 0, 1, 0]);
  });

  it("shows a thread that lived between two samples", () => {
    const world = started();
    const event = { ...exit(9, "worker-3", 0.25), start_ns: 2.1e9, seen_alive: false };
    world.sample({ 1: cpu(7.5) }, [{ ...event, lifetime_ns: 0.3e9 } as TargetEvent]);
    world.sample({ 1: cpu(8) });
    world.make();
    // A quarter of a second of CPU in a life of 0.3 s.
    const none = Number.NaN;
    expect(world.row(3)).toEqual([none, none, none, none, 0.833333, none]);
  });

  it("draws a life in a long time between samples only where it was", () => {
    const world = new World();
    world.asked = { ...world.asked, width_px: 100 };
    world.sample({ 1: cpu(0) }, [], NAMES);
    const event = { ...exit(9, "worker-3", 0.05), start_ns: 0.2e9, seen_alive: false };
    world.sample({ 1: cpu(0.5) }, [{ ...event, lifetime_ns: 0.1e9 } as TargetEvent]);
    world.sample({ 1: cpu(1) });
    world.make();
    expect(world.view).toMatchObject({ bin_px: 4, bin_s: 0.4 });
    expect(world.row(1)).toEqual([0.5, Number.NaN, Number.NaN]);
  });

  it("lays threads of a role that follow one another behind one another", () => {
    const world = started();
    const short = (tid: number, start_s: number): TargetEvent =>
      ({
        ...exit(tid, `worker-${tid}`, 0.1),
        ...{ start_ns: start_s * SECOND, lifetime_ns: 0.2 * SECOND, seen_alive: false },
      }) as TargetEvent;
    for (let i = 5; i < 15; i++) world.sample({ 1: cpu(5 + i / 2) }, [short(50 + i, i / 2 - 0.4)]);
    world.make();
    const { picture } = world;
    // Half-second columns with an empty one between two lives: the lives take three lanes in turn.
    expect(picture?.layout).toMatchObject({ rows: 6, per_row: 1 });
    const named = [4, 7, 10].map((column) => placeAt(picture as MapPicture, column, 3));
    expect(named.map((place) => picture?.layout.tid[place])).toEqual([55, 58, 61]);
    expect(world.row(3).map(Number.isNaN).slice(4, 9)).toEqual([false, true, true, false, true]);
    // Between two lives the nearest thread is named.
    expect(placeAt(picture as MapPicture, 5, 3)).toBe(named[0]);
  });

  it("continues rows where threads come and go in their lanes", () => {
    const world = started();
    world.asked = { ...world.asked, rows: 10 };
    world.make();
    const start = (tid: number, start_s: number): TargetEvent =>
      ({ ...exit(tid, `task-${tid}`, 0.1), start_ns: start_s * SECOND }) as TargetEvent;
    const life = { lifetime_ns: 0.2 * SECOND, seen_alive: false };
    let wholes = 0;
    for (let i = 5; i < 65; i++) {
      const event = { ...start(50 + i, i / 2 - 0.4), ...life } as TargetEvent;
      world.sample({ 1: cpu(5 + i / 2) }, i % 4 === 0 ? [event] : []);
      const view = world.make();
      if (view && !view.continues) wholes++;
    }
    // Only the first thread added a row.
    expect(wholes).toBe(1);
    const { picture } = world;
    const names = Array.from({ length: 5 }, (_, i) => {
      const column = (picture?.to ?? 0) - 1 - 4 * i;
      return keyAt(picture?.layout as MapLayout, placeAt(picture as MapPicture, column - 1, 3));
    });
    expect(names.map((key) => key?.split("@")[0])).toEqual(["114", "110", "106", "102", "98"]);
    // Equal to computing everything at once.
    const values = world.row(3).slice(-20);
    expect(values.filter((value) => !Number.isNaN(value))).toEqual([0.5, 0.5, 0.5, 0.5, 0.5]);
    world.asked = { ...world.asked, rows: 9 };
    world.make();
    expect(world.row(3).slice(-20)).toEqual(values);
  });

  it("lets rows be shared: the highest with its thread, or the mean", () => {
    const world = started();
    world.asked = { ...world.asked, rows: 2 };
    world.make();
    const { picture } = world;
    expect([world.row(0), world.row(1)]).toEqual([
      [1, 1, 1, 1],
      [0.5, 0.5, 0.5, 0.5],
    ]);
    expect(picture && keyAt(picture.layout, placeAt(picture, 2, 1))).toBe("2@-1000000000");
    expect(picture && placeOf(picture.layout, "3@-1000000000")).toBe(2);
    world.asked = { ...world.asked, mix: "mean" };
    world.make();
    expect(world.row(1)).toEqual([0.25, 0.25, 0.25, 0.25]);
  });

  it("marks threads that do not have the field, and is absent where none can", () => {
    const world = new World();
    const disk = (bytes: number): Counters => ({ disk_read_bytes: bytes, cpu_run_ns: 1 });
    world.sample({ 1: disk(0), 2: cpu(0) }, [], NAMES);
    world.sample({ 1: disk(1024), 2: cpu(0) });
    world.asked = { ...world.asked, field: "disk_read_bytes" };
    world.make();
    expect([world.row(0), world.row(1)]).toEqual([[2048], [NO_FIELD]]);
    world.asked = { ...world.asked, field: "net_read_bytes" };
    expect(world.make()).toMatchObject({ state: "absent", reason: "needs eBPF", columns: 0 });
  });

  it("keeps a field's past from when it is asked for, if it is not kept always", () => {
    const world = started();
    const faults = (n: number): Counters => ({ ...cpu(9), major_faults: n });
    world.sample({ 1: faults(1000), 2: faults(0), 3: faults(0) });
    world.asked = { ...world.asked, field: "major_faults" };
    world.make();
    world.sample({ 1: faults(1010) });
    world.sample({ 1: faults(1030) });
    world.make();
    expect(world.view?.since_s).toBe(3);
    expect(world.row(0).slice(-2)).toEqual([Number.NaN, 40]);
    world.sample({ 1: faults(1030) });
    world.make();
    expect(world.row(0).slice(-2)).toEqual([40, 0]);
    expect(world.row(1).slice(-2)).toEqual([0, 0]);
  });

  it("shows the part that is zoomed to, and only threads that fit the filter", () => {
    const world = started();
    world.request = {
      ...world.request,
      filter: "worker",
      window: { kind: "fixed", t0_s: 1, t1_s: 3 },
    };
    world.make();
    expect(world.view).toMatchObject({ bin_s: 0.4, from: 2, columns: 3 });
    expect(world.picture?.layout.names).toEqual(["worker-1", "worker-2"]);
    expect(world.row(0)).toEqual([0.5, 0.5, 0.5]);
  });

  it("waits for a second sample", () => {
    const world = new World();
    world.sample({ 1: cpu(1) }, [], NAMES);
    expect(world.make()?.state).toBe("waiting");
  });
});
