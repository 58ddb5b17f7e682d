import { describe, expect, it } from "vitest";
import { NO_LOSSES } from "../testing/runs";
import { childrenText, dataLossTexts, missingText } from "./dataLossText";

describe("what is missing in a run", () => {
  it("is nothing without losses", () => {
    expect(missingText(NO_LOSSES)).toBeNull();
    expect(dataLossTexts(NO_LOSSES)).toEqual([]);
  });

  it("is said by amount", () => {
    const losses = {
      ...NO_LOSSES,
      frames: 2,
      gaps: 1,
      missing_ns: 3e8,
      exit_records_lost: 1,
      exits_without_event: 4,
    };
    expect(missingText(losses)).toBe("2 frames, 1 exit record, 4 exit events missing");
    expect(dataLossTexts(losses)).toHaveLength(3);
  });

  it("is stated for the end of a run that its collector did not confirm or deliver", () => {
    const cut = {
      ...NO_LOSSES,
      frames: 3,
      gaps: 1,
      missing_ns: 184e8,
      tail_ns: 18e9,
      tail_samples: 180,
      tail_exits: 549,
    };
    expect(missingText(cut)).toBe("3 frames, the last 18 s, 549 exits missing");
    expect(dataLossTexts(cut).slice(0, 3)).toEqual([
      "3 frames missing in 1 gap, 400 ms in total; totals are correct again after each gap.",
      "The last 18 s of the run are missing: 180 samples.",
      "549 exits before the end of the run missing.",
    ]);
    const silent = { ...NO_LOSSES, tail_exits: null };
    expect(missingText(silent)).toBe("exits missing");
    expect(dataLossTexts(silent)).toHaveLength(1);
  });

  it("names first what children of the command used", () => {
    const text = "This run shows one process; its children used 12 s of CPU that are not in it.";
    expect(childrenText(12_300_000)).toBe(text);
    expect(dataLossTexts({ ...NO_LOSSES, coalesced: 1 }, 12_300_000)[0]).toBe(text);
    for (const nothing of [0, null, undefined]) {
      expect(childrenText(nothing)).toBeNull();
      expect(dataLossTexts(NO_LOSSES, nothing)).toEqual([]);
    }
  });

  it("does not count what only makes a run coarser", () => {
    const coarser = { ...NO_LOSSES, coalesced: 5, deadlines_missed: 2, clock_jumps: 1 };
    expect(missingText(coarser)).toBeNull();
    expect(dataLossTexts(coarser)).toHaveLength(3);
  });
});
