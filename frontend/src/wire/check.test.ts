import { describe, expect, it } from "vitest";
import { frame, TARGET } from "../testing/frames";
import { began, decided, STEERING } from "../testing/steering";
import { checkFrameHeader, checkLiveMessage } from "./check";

const header = () => structuredClone(frame({ seq: 3 }, []).header);

describe("checkFrameHeader", () => {
  it("knows what steering tells", () => {
    const actor = "a page";
    const events = [
      began(),
      decided(3, 16, 12, { proposed: 12, mean_wait_s: 0.5 }),
      { type: "search_restarted", policy: "linear", reason: "phase", actor },
      { type: "steering_problem", policy: "linear", problem: null },
      { type: "steering_released", policy: "linear", size: 16, actor },
    ];
    expect(checkFrameHeader({ ...header(), events })).toMatchObject({ events });
    const wrong = { ...header(), events: [{ ...decided(3, 16, 12), ops: null }] };
    expect(checkFrameHeader(wrong)).toBe("/events/0/ops is null");
  });

  it("lets a header through", () => {
    expect(checkFrameHeader(header())).toEqual(header());
  });

  it.each([
    [{ seq: -1 }, "/seq is -1"],
    [{ kind: "whole" }, '/kind is "whole"'],
    [{ first_seq: 4 }, "/first_seq is 4, above /seq 3"],
    [{ events: [{ type: "solar_eclipse" }] }, '/events/0 is {"type":"solar_eclipse"}'],
    [{ events: [{ type: "exit_records_lost", count: "3" }] }, '/events/0/count is "3"'],
  ])("says what is wrong: %o", (change, reason) => {
    expect(checkFrameHeader({ ...header(), ...change })).toBe(reason);
  });
});

describe("checkLiveMessage", () => {
  it("lets the state through", () => {
    const message = { type: "live_state", hosts: [], targets: [TARGET] };
    expect(checkLiveMessage(JSON.stringify(message))).toEqual(message);
    const steered = { ...message, targets: [{ ...TARGET, steering: STEERING }] };
    expect(checkLiveMessage(JSON.stringify(steered))).toEqual(steered);
    const wrong = { ...message, targets: [{ ...TARGET, steering: { ...STEERING, size: "8" } }] };
    expect(checkLiveMessage(JSON.stringify(wrong))).toBe('/targets/0/steering/size is "8"');
  });

  it.each([
    ["{", "not JSON: {"],
    ['{"type":"no_such_type"}', 'it is {"type":"no_such_type"}'],
    ['{"type":"stream_stats","sent":1}', "/coalesced is missing"],
  ])("says what is wrong: %s", (text, reason) => {
    expect(checkLiveMessage(text)).toBe(reason);
  });
});
