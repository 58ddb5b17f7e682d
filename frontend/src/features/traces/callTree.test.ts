import { describe, expect, it } from "vitest";
import { matchesOf } from "../../chart/flame";
import { callTree, foundText, servicesOf } from "./callTree";

/** A calls B (60) and C (30), B calls D (40); a second root E (20). */
const NAMES = ["A", "B", "C", "D", "E"].map((operation) => ({ service: "s", operation }));
const COLUMNS = { name: NAMES, parent: [-1, 0, 0, 1, -1] };

describe("callTree", () => {
  it("is as wide as the greater of two sets, and as what is below", () => {
    // B is only in the first set, C only in the second: A has room for both.
    const tree = callTree(COLUMNS, [
      [60, 60, 0, 40, 0],
      [70, 0, 70, 0, 10],
    ]);
    expect(tree.weight).toEqual([130, 60, 70, 40, 10]);
    expect(tree.children[0]).toEqual([2, 1]);
    expect(tree.name[0]).toBe("s A");
  });

  it("says what share of the time a search covers", () => {
    const tree = callTree(COLUMNS, [[100, 60, 30, 40, 20]]);
    expect(foundText(matchesOf(tree, ""))).toBe("");
    expect(foundText(matchesOf(tree, "s b"))).toBe("50.0 % matches");
    expect(foundText(matchesOf(tree, "gone"))).toBe("nothing matches");
  });

  it("orders services by their own width", () => {
    const name = ["web", "db", "db"].map((service, n) => ({ service, operation: `${n}` }));
    expect(servicesOf(callTree({ name, parent: [-1, 0, 1] }, [[100, 70, 10]]))).toEqual([
      "db",
      "web",
    ]);
  });
});
