import { describe, expect, it } from "vitest";
import { decision, STEERING, steerView } from "../testing/steering";
import type { Plot } from "./plot";
import {
  bandBoxes,
  decisionWords,
  describeSteer,
  fitted,
  steerMarks,
  steerNote,
} from "./steerMarks";

/** Ten seconds over a thousand pixels. */
const PLOT: Plot = { left: 50, top: 0, width: 1000, height: 100, t0_s: 0, t1_s: 10, y_top: 1 };
const STEER = steerView();

describe("steerMarks", () => {
  it("marks changes and restarts in all charts, decisions to stay in the steering's own", () => {
    expect(steerMarks(STEER, "cpu", PLOT)).toEqual([
      { t_s: 4, kind: "moved" },
      { t_s: 7, kind: "restart" },
    ]);
    expect(steerMarks(STEER, "ops", PLOT).map(({ kind }) => kind)).toEqual([
      "moved",
      "kept",
      "restart",
    ]);
    expect(steerMarks(STEER, "map", { t0_s: 5, t1_s: 6.5 })).toEqual([]);
    expect(steerMarks(null, "cpu", PLOT)).toEqual([]);
  });
});

describe("bandBoxes", () => {
  it("cuts bands at the plot's edges; one that goes on reaches to the right one", () => {
    expect(bandBoxes(STEER, PLOT)).toEqual([
      { x: 250, width: 800, label: "kalman-kg", policy: "kalman-kg" },
    ]);
    const { knob, signal, proxy } = STEERING;
    const band = { policy: "linear", shadow: true, knob, signal, proxy, from_s: -5, to_s: 1 };
    expect(bandBoxes(steerView({ bands: [band] }), PLOT)).toEqual([
      { x: 50, width: 100, label: "linear (shadow)", policy: "linear" },
    ]);
    expect(bandBoxes(steerView({ bands: [{ ...band, to_s: -1 }] }), PLOT)).toEqual([]);
  });
});

describe("fitted", () => {
  it.each([
    ["kalman-kg", 75, "kalman-kg"],
    ["kalman-kg", 74, "kalman-…"],
    ["kalman-kg", 40, ""],
    ["pss", 33, "pss"],
  ])("%s in %d pixels", (label, width, shown) => {
    expect(fitted(label, width)).toBe(shown);
  });
});

describe("steerNote", () => {
  it("tells the decision in effect in the steering's charts, elsewhere only at its mark", () => {
    expect(steerNote(STEER, "gomaxprocs", PLOT, 5)).toBe("kalman-kg: 8 → 9. 9 may be better.");
    expect(steerNote(STEER, "gomaxprocs", PLOT, 6.5)).toBe("kalman-kg: stays at 9. 9 is best.");
    expect(steerNote(STEER, "cpu", PLOT, 5)).toBeNull();
    expect(steerNote(STEER, "cpu", PLOT, 4.05)).toBe("kalman-kg: 8 → 9. 9 may be better.");
    expect(steerNote(STEER, "cpu", PLOT, 6)).toBeNull();
  });

  it("tells a restart, and nothing before the first decision or after the release", () => {
    expect(steerNote(STEER, "cpu", PLOT, 6.95)).toBe(
      "kalman-kg search restarted: somebody asked for it",
    );
    expect(steerNote(STEER, "ops", PLOT, 3)).toBeNull();
    const over = steerView({ bands: STEER.bands.map((band) => ({ ...band, to_s: 8 })) });
    expect(steerNote(over, "ops", PLOT, 9)).toBeNull();
  });
});

describe("decisionWords", () => {
  it("says what changed, or would have", () => {
    expect(decisionWords(decision(1, { size: 8, next_size: 9 }))).toBe("8 → 9");
    expect(decisionWords(decision(1))).toBe("stays at 8");
    expect(decisionWords(decision(1, { proposed: 8 }))).toBe("stays at 8");
    expect(decisionWords(decision(1, { proposed: 9 }))).toBe("stays at 8, would set 9");
  });
});

describe("describeSteer", () => {
  it("puts the timeline into words", () => {
    expect(describeSteer(STEER, 0, 10)).toBe(
      " Steered by kalman-kg. 2 decisions, 1 of them changed the size. 1 restart of the search." +
        " Last change 8 → 9: 9 may be better. Now: 9 is best.",
    );
    expect(describeSteer(STEER, 0, 1)).toBe("");
    expect(describeSteer(null, 0, 1)).toBe("");
  });
});
