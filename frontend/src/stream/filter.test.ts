import { describe, expect, it } from "vitest";
import { filterFrom } from "./filter";

describe("filterFrom", () => {
  it("says what is wrong with an expression and lets everything through", () => {
    const filter = filterFrom("work[");
    expect(filter.problem).not.toBe("");
    expect(filter.fits({ tid: 1, name: "x", role: "x" })).toBe(true);
  });
});
