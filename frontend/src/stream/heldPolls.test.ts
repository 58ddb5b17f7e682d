import { describe, expect, it } from "vitest";
import { factTables } from "../testing/factModel";
import { cycle, LEDGER_TARGET, LedgerFrames, type LedgerThread } from "../testing/ledgers";
import { natureOf } from "./breakdown";
import { cellValue, nextPicture } from "./mapPicture";
import { MapMaker } from "./mapView";
import { waitShares } from "./parked";
import { filterFrom } from "./rank";
import { HELD, STATE_FIELD } from "./states";
import { TargetModel } from "./targetModel";
import { threadView } from "./threadView";
import { timesView } from "./timesView";
import { DEFAULT_MAP, DEFAULT_REQUEST } from "./viewRequest";
import { spanOf } from "./window";

const TIDS = [2, 3, 4, 5];
const MAIN: LedgerThread = { tid: 1, name: "main", start_s: -5, stays: [[-5, "sleep"]] };
const BACKENDS = TIDS.map((tid) =>
  cycle(
    { tid, name: `backend-${tid}`, start_s: -5 },
    [
      ["poll", 0.9],
      ["on_cpu", 0.1],
    ],
    30,
  ),
);

/**
 * Four threads that poll, and are let go on by each other, or by a client.
 * @param own Share of their waiting that they end for each other.
 */
function inputOf(own: number) {
  const model = new TargetModel();
  const frames = new LedgerFrames([MAIN, ...BACKENDS]);
  const wake = (
    t_s: number,
    waker_tid: number,
    waker_pid: number,
    wakee_tid: number,
    s: number,
  ) => ({ ...{ waker_tid, waker_pid, wakee_tid }, count: 10 * t_s, blocked_ns: 1e9 * s * t_s });
  for (let i = 0; i <= 100; i++) {
    const t_s = i / 10;
    const wakes = TIDS.flatMap((tid) => [
      wake(t_s, tid === 5 ? 2 : tid + 1, 100, tid, 0.9 * own),
      wake(t_s, 900, 900, tid, 0.9 * (1 - own)),
    ]);
    model.ingest(frames.at(t_s, { tables: factTables({ wakes }) }));
  }
  const thread = model.threads.byTid.get(2);
  const request = { ...DEFAULT_REQUEST, selected: thread?.key ?? null };
  const target = { ...LEDGER_TARGET, process: { ...LEDGER_TARGET.process, pid: 100 } };
  const { now_s } = model;
  const span = spanOf(request.window, now_s);
  return { model, target, request, filter: filterFrom(""), span, now_s };
}

describe("polls of threads that wait for each other", () => {
  const input = inputOf(0.9);

  it("are held up by the share of their waiting that others of the role end", () => {
    expect(waitShares(input.model)(2)).toMatchObject({ held: expect.closeTo(0.9) });
    // A client that gives them work is nobody in their way.
    expect(waitShares(inputOf(0.2).model)(2).held).toBe(0);
  });

  it("are blocked where the time goes", () => {
    const view = timesView(input, { chart: "times", width_px: 600, in_view: true });
    const role = view.times?.roles.find(({ name }) => name === "backend-#");
    const { parts, threads } = role ?? expect.fail("no times");
    expect(parts.held / threads / input.now_s).toBeCloseTo(0.81, 1);
    expect(parts.poll / threads / input.now_s).toBeCloseTo(0.09, 1);
    expect([natureOf("held"), natureOf("poll")]).toEqual(["blocked", "idle"]);
  });

  it("are a row of the thread's ledger, and add up with the other polls", () => {
    const { rows, window } = threadView(input) ?? expect.fail("no thread");
    expect(rows.map(({ part }) => part)).toEqual(["on_cpu", "held", "poll"]);
    expect(Math.abs(window.sum_ns - window.wall_ns)).toBeLessThanOrEqual(2);
  });

  it("have a state of their own in the thread map", () => {
    const asked = { ...DEFAULT_MAP, field: STATE_FIELD, width_px: 600, rows: 10 };
    const view = new MapMaker().make(input, asked, true, () => 0) ?? expect.fail("no map");
    const picture = nextPicture(null, view) ?? expect.fail("no picture");
    const cells = Array.from({ length: picture.view.columns }, (_, k) => cellValue(picture, k, 1));
    expect(cells).toContain(HELD);
  });
});
