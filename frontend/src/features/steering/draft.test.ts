import { describe, expect, it } from "vitest";
import { POLICY, STEERING } from "../../testing/steering";
import {
  afterRefusal,
  afterSteering,
  boundFields,
  changesParameters,
  counterOf,
  type Edits,
  isDefault,
  NO_EDITS,
  parameterField,
  parameterHelp,
  requestFor,
  requestOf,
  toDefaults,
  undoLabel,
  wrongNumber,
  wrongParameters,
} from "./draft";

const typed = (text: string): Edits => ({ parameters: { "kalman-kg": { max_step: text } } });
const [interval, step] = POLICY.parameters;
const PLAIN = { known: null, waits: null };

describe("parameters", () => {
  it("are those in effect, else the defaults, else what was typed", () => {
    if (!interval || !step) throw new Error("no parameters");
    const forced = { ...STEERING, parameters: { interval_s: 5 } };
    expect(parameterField(interval, "kalman-kg", forced, NO_EDITS).text).toBe("5");
    expect(parameterField(interval, "linear", forced, NO_EDITS).text).toBe("2");
    expect(parameterField(step, "kalman-kg", forced, typed("70"))).toEqual({
      text: "70",
      wrong: "Between 1 and 64.",
    });
    expect(parameterHelp(step)).toBe("Largest step. 1 to 64, default 3.");
  });

  it.each([
    ["2.5", true, "Whole numbers only."],
    ["2.5", false, ""],
    ["", false, "Not a number."],
    ["two", false, "Not a number."],
    ["0", false, "Between 1 and 9."],
    [" 9 ", true, ""],
  ])("%j: wrong or not", (text, integer, wrong) => {
    expect(wrongNumber(text, 1, 9, integer)).toBe(wrong);
  });

  it("know what changed, what is wrong, and the way to the defaults", () => {
    expect(changesParameters(POLICY, STEERING, NO_EDITS)).toBe(false);
    expect(changesParameters(POLICY, STEERING, typed("3"))).toBe(false);
    expect(changesParameters(POLICY, STEERING, typed("4"))).toBe(true);
    expect(wrongParameters(POLICY, STEERING, typed("x"))).toEqual(["max_step"]);
    const forced = { ...STEERING, parameters: { interval_s: 5, max_step: 3 } };
    expect(isDefault(POLICY, forced, NO_EDITS)).toBe(false);
    const back = toDefaults(POLICY, NO_EDITS);
    expect(isDefault(POLICY, forced, back)).toBe(true);
    expect(changesParameters(POLICY, forced, back)).toBe(true);
  });
});

describe("boundFields", () => {
  const allowed = { lower: 1, upper: 16 };
  it("takes nothing for the knob's own, and no crossing", () => {
    expect(boundFields(null, NO_EDITS, allowed).lower).toEqual({ text: "", wrong: "" });
    expect(boundFields(STEERING, NO_EDITS, allowed).upper.text).toBe("16");
    const crossed = { ...NO_EDITS, lower: "9", upper: "4" };
    expect(boundFields(null, crossed, allowed).upper.wrong).toBe(
      "Must not be below the lower bound.",
    );
    expect(boundFields(null, { ...NO_EDITS, upper: "17" }, allowed).upper.wrong).not.toBe("");
  });
});

describe("requestFor", () => {
  it("starts with defaults and best available", () => {
    expect(requestFor(POLICY, null, NO_EDITS, PLAIN)).toEqual({
      policy: "kalman-kg",
      parameters: {},
      shadow: false,
      knob: null,
      signal: null,
      lower: null,
      upper: null,
    });
  });

  it("keeps what is in effect and adds what was changed", () => {
    const forced = { ...STEERING, shadow: true, lower: 2, parameters: { interval_s: 5 } };
    const edits: Edits = { ...typed("4"), upper: "", signal: "network-calls" };
    expect(requestFor(POLICY, forced, edits, { known: null, waits: false })).toEqual({
      policy: "kalman-kg",
      parameters: { interval_s: 5, max_step: 4 },
      shadow: true,
      knob: "go-agent",
      signal: "network-calls",
      lower: 2,
      upper: null,
    });
  });

  it("lets the signal go where the next policy needs one of another kind", () => {
    const ait = { ...POLICY, name: "ait", wait: true };
    expect(requestFor(ait, STEERING, NO_EDITS, { known: null, waits: false }).signal).toBeNull();
    expect(requestFor(ait, STEERING, NO_EDITS, { known: null, waits: true }).signal).toBe(
      "agent-ops",
    );
  });

  it("names the counter where the signal is Prometheus", () => {
    const known = { port: 9090, path: "/metrics", metric: "ops_total" };
    const forced = { ...STEERING, signal: "prometheus" as const };
    expect(requestFor(POLICY, forced, NO_EDITS, { known, waits: false }).prometheus).toBe(known);
    expect(requestFor(POLICY, STEERING, NO_EDITS, { known, waits: false })).not.toHaveProperty(
      "prometheus",
    );
    expect(requestOf(forced, known).prometheus).toBe(known);
  });
});

describe("counterOf", () => {
  it.each([
    ["9090", "/metrics", "ops_total", true],
    ["", "/metrics", "ops_total", false],
    ["70000", "/metrics", "ops_total", false],
    ["9090", "metrics", "ops_total", false],
    ["9090", "/metrics", "9ops", false],
  ])("%s %s %s", (port, path, metric, fits) => {
    expect(counterOf({ port, path, metric }) !== null).toBe(fits);
  });
});

describe("edits", () => {
  const edits: Edits = { parameters: { a: { x: "1" }, b: { x: "2" } }, shadow: true, lower: "3" };

  it("are gone once they are in effect, but for other policies' parameters", () => {
    expect(afterSteering(edits, "a")).toEqual({ parameters: { b: { x: "2" } } });
    expect(afterSteering(edits, null)).toEqual({ parameters: edits.parameters });
  });

  it("keep what was typed after a refusal", () => {
    expect(afterRefusal(edits)).toEqual({ parameters: edits.parameters, lower: "3" });
  });
});

describe("undoLabel", () => {
  it("says where it leads", () => {
    expect(undoLabel(STEERING, "linear")).toBe("Back to kalman-kg");
    expect(undoLabel(STEERING, "kalman-kg")).toBe("Undo change");
    expect(undoLabel(STEERING, null)).toBe("Steer again with kalman-kg");
  });
});
