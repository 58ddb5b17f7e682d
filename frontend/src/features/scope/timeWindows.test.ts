import { describe, expect, it } from "vitest";
import { windowFor, zoomWords } from "./timeWindows";

describe("windowFor", () => {
  it("turns choices into seconds", () => {
    expect(windowFor("300", 12)).toEqual({ kind: "last", seconds: 300 });
  });

  it.each([
    [0, 30],
    [30, 30],
    [30.1, 60],
    [4000, 7200],
    [90_000.5, 90_001],
  ])("shows all of %d s in %d s", (kept, seconds) => {
    expect(windowFor("all", kept)).toEqual({ kind: "last", seconds });
  });
});

it("says how long a zoomed stretch is", () => {
  expect(zoomWords({ kind: "fixed", t0_s: 10, t1_s: 14.5 })).toBe("4.5 s");
});
