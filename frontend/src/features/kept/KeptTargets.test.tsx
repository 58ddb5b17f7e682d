import { expect, test } from "vitest";
import { keptText } from "./KeptTargets";

const RING = {
  on: true,
  max_age_s: 3600,
  max_bytes: 512_000_000,
  bytes: 13_000_000,
  lost: 0,
  disk_full: false,
  tracks: [],
};

test("a ring is described with its bounds, and with what it lost", () => {
  expect(keptText(RING)).toContain("0 targets");
  expect(keptText(RING)).not.toContain("lost");
  expect(keptText({ ...RING, lost: 3 })).toContain("3 frames lost");
  const unknown = keptText({ ...RING, max_age_s: null, max_bytes: null });
  expect(unknown.startsWith("Kept at full rate: ")).toBe(true);
});
