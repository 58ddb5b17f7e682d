import { describe, expect, it } from "vitest";
import { NO_LOSSES } from "../../testing/runs";
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
