import { describe, expect, it } from "vitest";
import type { TraceHeat } from "../../wire/generated/models";
import { heatColumns, heatText, heatTop, moveInHeat } from "./HeatPanel";

const trace = (n: number, start_ns: number, duration_ns: number) => ({
  ...{ trace_id: String(n).repeat(32), service: "web", operation: "GET /" },
  ...{ start_ns, duration_ns, spans: 3, services: 2, errors: 0 },
});

const HEAT: TraceHeat = {
  operations: [
    { service: "db", operation: "SELECT" },
    { service: "web", operation: "GET /" },
  ],
  traces: [trace(1, 10, 9e6), trace(2, 20, 4e6), trace(3, 30, 7e6)],
  times_ns: [
    [5e6, 0, 3e6],
    [4e6, 4e6, 4e6],
  ],
  chains: [
    [
      [
        {
          chain: [
            { service: "web", operation: "GET /" },
            { service: "db", operation: "SELECT" },
          ],
          ns: 5e6,
        },
      ],
      [],
      [],
    ],
    [[], [], []],
  ],
};

describe("heat maps", () => {
  it("have their columns by start or by duration", () => {
    expect(heatColumns(HEAT, "start")).toEqual([0, 1, 2]);
    expect(heatColumns(HEAT, "duration")).toEqual([1, 2, 0]);
    expect(heatTop(HEAT)).toBe(5e6);
  });

  it("say what a cell is", () => {
    expect(heatText(HEAT, 0, 0)).toBe(
      "db SELECT: 5.00 ms on the critical path of a request of 9.00 ms; 5.00 ms in web GET /, db SELECT",
    );
    expect(heatText(HEAT, 0, 1)).toBe(
      "db SELECT: not on the critical path of a request of 4.00 ms",
    );
    expect(heatText(HEAT, 9, 1)).toBe("");
  });

  it.each([
    [null, "ArrowDown", { row: 0, column: 0 }],
    [{ row: 0, column: 0 }, "ArrowRight", { row: 0, column: 1 }],
    [{ row: 1, column: 2 }, "ArrowDown", { row: 1, column: 2 }],
    [{ row: 1, column: 1 }, "Home", { row: 1, column: 0 }],
    [{ row: 0, column: 1 }, "End", { row: 0, column: 2 }],
    [{ row: 0, column: 1 }, "x", null],
  ])("move from %o by %s", (from, key, to) => {
    expect(moveInHeat(from, key, 2, 3)).toEqual(to);
  });
});
