import { expect, it } from "vitest";
import { frame, TARGET } from "../testing/frames";
import { DIVISION, decided, STEERING } from "../testing/steering";
import type { LiveState, TargetEvent } from "../wire/generated/models";
import { withDecisions } from "./decisions";

const STEERED = {
  ...TARGET,
  id: "t-1-00000000",
  steering: { ...STEERING, decisions: 4, size: 8, since_unix_us: 1_700_000_001_000_000 },
};
const LIVE: LiveState = { type: "live_state", hosts: [], targets: [STEERED], recordings: [] };

function header(events: readonly TargetEvent[]) {
  return frame({ seq: 100, t_s: 10, events }, []).header;
}

it("applies newer decisions, in order", () => {
  const decisions = [
    decided(8, 8, 9, { number: 5 }),
    decided(10, 9, 10, { number: 6, division: DIVISION }),
  ];
  const after = withDecisions(LIVE, header(decisions));
  expect(after.targets[0]?.steering).toMatchObject({
    size: 10,
    decisions: 6,
    division: DIVISION,
  });
});

it("leaves the state as it is without a newer decision", () => {
  expect(withDecisions(LIVE, header([]))).toBe(LIVE);
  expect(withDecisions(LIVE, header([decided(9, 7, 8, { number: 4 })]))).toBe(LIVE);
  const before = decided(0.5, 7, 30, { number: 9 });
  expect(withDecisions(LIVE, header([before]))).toBe(LIVE);
  expect(withDecisions({ ...LIVE, targets: [TARGET] }, header([decided(9, 8, 9)]))).toMatchObject({
    targets: [TARGET],
  });
});
