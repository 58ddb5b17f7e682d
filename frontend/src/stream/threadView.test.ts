import { describe, expect, it } from "vitest";
import { LEDGER_TARGET, LedgerFrames, type LedgerThread, type Stay } from "../testing/ledgers";
import type { Frame } from "../wire/frame";
import { filterFrom } from "./rank";
import { TargetModel } from "./targetModel";
import { type ThreadView, threadView } from "./threadView";
import { DEFAULT_REQUEST } from "./viewRequest";
import { spanOf } from "./window";

/**
 * A thread that runs for 50 ms and sleeps for 50 ms; every other change comes 1 ms after a frame's
 * time.
 */
const BURNER: LedgerThread = {
  ...{ tid: 1, name: "burner", start_s: -5 },
  stays: [
    [-5, "sleep"],
    ...Array.from({ length: 300 }, (_, i): Stay => [i / 20 + 0.001, i % 2 ? "sleep" : "on_cpu"]),
  ],
};
const SECONDS = 10;

/** View after ten seconds, with rows read with a delay after their frames' times. */
function viewOf(
  late_s: (t_s: number) => number,
  changed: (frame: Frame) => Frame = (frame) => frame,
): ThreadView {
  const model = new TargetModel();
  const frames = new LedgerFrames([BURNER]);
  for (let i = 0; i <= 10 * SECONDS; i++) {
    const t_s = i / 10;
    model.ingest(changed(frames.at(t_s, {}, t_s + late_s(t_s))));
  }
  const [thread] = model.threads.all();
  const request = { ...DEFAULT_REQUEST, selected: thread?.key ?? null };
  const { now_s } = model;
  const span = spanOf(request.window, now_s);
  const input = { model, target: LEDGER_TARGET, request, filter: filterFrom(""), span, now_s };
  return threadView(input) ?? expect.fail("no thread is selected");
}

function difference({ sum_ns, wall_ns }: ThreadView["window"]): number {
  return Math.abs(sum_ns - wall_ns);
}

describe("the ledger of a thread beside the clock", () => {
  it.each([
    ["at once", () => 0],
    ["late", () => 0.003],
    ["late in the first frame", (t_s: number) => (t_s === 0 ? 0.003 : 0)],
    ["late in the last frame", (t_s: number) => (t_s === SECONDS ? 0.003 : 0)],
  ])("adds up if rows are read %s", (_, late_s) => {
    const { window, total } = viewOf(late_s);
    expect(window.wall_ns).toBeGreaterThan(1e9 * (SECONDS - 0.01));
    expect(difference(window)).toBeLessThanOrEqual(2);
    expect(difference(total)).toBeLessThanOrEqual(2);
  });

  it("does not add up if a state is missing", () => {
    const { window, total } = viewOf(
      () => 0.003,
      (frame) => ({
        ...frame,
        columns: frame.columns.map((column, i) =>
          frame.fields[i] === "state_sleep_ns" ? column.map(() => 0) : column,
        ),
      }),
    );
    expect(difference(window)).toBeGreaterThan(4.9e9);
    expect(difference(total)).toBeGreaterThan(4.9e9);
  });
});
