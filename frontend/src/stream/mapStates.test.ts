import { describe, expect, it } from "vitest";
import { cycle, LEDGER_TARGET, LedgerFrames, type LedgerThread } from "../testing/ledgers";
import { cellShares, cellValue, type MapPicture, NO_FIELD, nextPicture } from "./mapPicture";
import { MapMaker } from "./mapView";
import { filterFrom } from "./rank";
import { isUnswitched, STATE_FIELD, sharesOfCell, stateNumbered } from "./states";
import { TargetModel } from "./targetModel";
import { DEFAULT_MAP, DEFAULT_REQUEST } from "./viewRequest";
import { spanOf } from "./window";

const RATE = 10;

/** Receives frames and keeps a picture of the map, like worker and page. */
class Watching {
  readonly model = new TargetModel();
  picture: MapPicture | null = null;
  private readonly frames: LedgerFrames;
  private readonly maker = new MapMaker();
  private tick = 0;

  constructor(
    threads: readonly LedgerThread[],
    private readonly rows = 300,
    private readonly seconds = 60,
  ) {
    this.frames = new LedgerFrames(threads);
  }

  run(until_s: number): MapPicture {
    for (; this.tick <= RATE * until_s; this.tick++) {
      this.model.ingest(this.frames.at(this.tick / RATE));
      this.sample(this.tick % 5 === 0);
    }
    if (!this.picture) throw new Error("no picture");
    return this.picture;
  }

  private sample(slow: boolean): void {
    const { model } = this;
    const window = { kind: "last", seconds: this.seconds } as const;
    const asked = { ...DEFAULT_MAP, field: STATE_FIELD, width_px: 600, rows: this.rows };
    const { now_s } = model;
    const span = spanOf(window, now_s);
    const filter = filterFrom("");
    const request = { ...DEFAULT_REQUEST, window };
    const input = { model, target: LEDGER_TARGET, request, filter, span, now_s };
    const view = this.maker.make(input, asked, slow, () => 0);
    if (view) this.picture = nextPicture(this.picture, view);
  }
}

function stateAt(picture: MapPicture, t_s: number, row: number): string | undefined {
  const column = Math.floor(t_s / picture.view.bin_s + 1e-9);
  return stateNumbered(cellValue(picture, column, row))?.id;
}

describe("the thread map of states", () => {
  const steps: LedgerThread = {
    ...{ tid: 1, name: "steps", start_s: -1 },
    stays: [
      [-1, "sleep"],
      [5, "on_cpu"],
      [8, "futex"],
      [12.04, "sleep"],
    ],
  };
  const sleeper: LedgerThread = { tid: 2, name: "waits", start_s: -1, stays: [[-1, "poll"]] };

  it("gives each cell the state that took most of it, also where nothing was sent", () => {
    const picture = new Watching([steps, sleeper]).run(20);
    expect([1, 4.95, 5.05, 7.95, 8.05, 11, 12.15, 19.8].map((t) => stateAt(picture, t, 0))).toEqual(
      [...["sleep", "sleep", "on_cpu", "on_cpu", "futex", "futex", "sleep", "sleep"]],
    );
    expect([0.15, 10, 19.8].map((t) => stateAt(picture, t, 1))).toEqual(["poll", "poll", "poll"]);
  });

  it("is the same put together piece by piece and made at once", () => {
    const busy = cycle(
      { tid: 3, name: "busy", start_s: -1 },
      [
        ["on_cpu", 0.13],
        ["futex", 0.21],
      ],
      30,
    );
    const pieces = new Watching([steps, busy]).run(20);
    const once = new Watching([steps, busy]);
    once.run(19.9);
    once.picture = null;
    const fresh = new Watching([steps, busy], 299).run(20);
    const cells = (picture: MapPicture, row: number) =>
      Array.from({ length: 195 }, (_, k) => [
        cellValue(picture, k, row),
        ...sharesOfCell(cellValue(picture, k, row), cellShares(picture, k, row)),
      ]);
    for (const row of [0, 1]) expect(cells(pieces, row)).toEqual(cells(fresh, row));
  });

  it("tells how a cell's time was shared", () => {
    const half = cycle(
      { tid: 3, name: "half", start_s: -1 },
      [
        ["on_cpu", 0.06],
        ["woken", 0.01],
        ["futex", 0.03],
      ],
      30,
    );
    const picture = new Watching([half]).run(10);
    const shares = sharesOfCell(cellValue(picture, 50, 0), cellShares(picture, 50, 0));
    expect(shares.map(({ number, share }) => [stateNumbered(number)?.id, share])).toEqual([
      ["on_cpu", 0.6],
      ["futex", 0.3],
      ["woken", 0.1],
    ]);
  });

  it("marks threads that were not switched since attach, until they are", () => {
    const picture = new Watching([steps, sleeper]).run(20);
    const marked = (t_s: number, row: number) =>
      isUnswitched(cellShares(picture, Math.floor(t_s / picture.view.bin_s + 1e-9), row));
    expect([1, 4.5, 5.5, 19].map((t) => marked(t, 0))).toEqual([true, true, false, false]);
    expect([1, 19].map((t) => marked(t, 1))).toEqual([true, true]);
  });

  it("adds up the threads that share a row", () => {
    const many = Array.from(
      { length: 12 },
      (_, i): LedgerThread => ({
        ...{ tid: 10 + i, name: `w-${i}`, start_s: -1 },
        stays: [[-1, i < 7 ? "poll" : i < 11 ? "futex" : "on_cpu"]],
      }),
    );
    const picture = new Watching(many, 1).run(5);
    expect(picture.layout.per_row).toBe(12);
    const shares = sharesOfCell(cellValue(picture, 20, 0), cellShares(picture, 20, 0));
    expect(shares.map(({ number, share }) => [stateNumbered(number)?.id, share])).toEqual([
      ["poll", 0.58],
      ["futex", 0.33],
      ["on_cpu", 0.08],
    ]);
  });

  it("tells threads without a ledger from moments without a thread", () => {
    const without: LedgerThread = { ...sleeper, tid: 4, name: "without", without: true };
    const born: LedgerThread = {
      ...{ tid: 5, name: "born", start_s: 6.05 },
      stays: [
        [6.05, "on_cpu"],
        [9, "ended"],
      ],
    };
    const picture = new Watching([steps, without, born]).run(20);
    const values = (row: number) => [3, 8, 15].map((t) => cellValue(picture, 10 * t, row));
    expect(values(1)).toEqual([NO_FIELD, NO_FIELD, NO_FIELD]);
    expect(values(2)).toEqual([Number.NaN, 1, Number.NaN]);
  });
});
