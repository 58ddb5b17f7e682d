import { describe, expect, it } from "vitest";
import { advance, isWhole, playbackStart, windowAfterKey } from "./playback";

const RUN = { t0_s: 100, t1_s: 1100 };
const WINDOW = { t0_s: 500, t1_s: 600 };

describe("playing", () => {
  it("begins at the start with a tenth of the run, a minute at most", () => {
    expect(playbackStart(RUN, { t0_s: 100, t1_s: 200 })).toEqual({ t0_s: 100, t1_s: 110 });
    expect(playbackStart(RUN, RUN)).toEqual({ t0_s: 100, t1_s: 160 });
    expect(playbackStart({ t0_s: 100, t1_s: 104 }, { t0_s: 100, t1_s: 104 })).toEqual({
      t0_s: 100,
      t1_s: 101,
    });
  });

  it("goes on from where it is, and again from the end", () => {
    expect(playbackStart(WINDOW, RUN)).toEqual(WINDOW);
    expect(playbackStart({ t0_s: 1000, t1_s: 1100 }, RUN)).toEqual({ t0_s: 100, t1_s: 200 });
  });

  it("moves on and stops at the end", () => {
    expect(advance(WINDOW, RUN, 6)).toEqual({ t0_s: 506, t1_s: 606 });
    expect(advance({ t0_s: 995, t1_s: 1095 }, RUN, 6)).toEqual({ t0_s: 1000, t1_s: 1100 });
    expect(advance({ t0_s: 1000, t1_s: 1100 }, RUN, 6)).toBeNull();
  });

  it("knows the whole", () => {
    expect(isWhole(RUN, RUN)).toBe(true);
    expect(isWhole(WINDOW, RUN)).toBe(false);
  });
});

describe("keys", () => {
  it.each([
    ["ArrowLeft", 490, 590],
    ["ArrowRight", 510, 610],
    ["PageUp", 400, 500],
    ["PageDown", 600, 700],
    ["-", 475, 625],
    ["Home", 100, 200],
    ["End", 1000, 1100],
  ])("%s", (key, t0_s, t1_s) => {
    expect(windowAfterKey(key, WINDOW, RUN)).toEqual({ t0_s, t1_s });
  });

  it("zoom in to a second at most", () => {
    expect(windowAfterKey("+", { t0_s: 500, t1_s: 503 }, RUN)).toEqual({
      t0_s: 500.5,
      t1_s: 502.5,
    });
    expect(windowAfterKey("+", { t0_s: 500, t1_s: 501 }, RUN)).toEqual({ t0_s: 500, t1_s: 501 });
  });

  it("leave others alone", () => {
    expect(windowAfterKey("a", WINDOW, RUN)).toBeNull();
  });
});
