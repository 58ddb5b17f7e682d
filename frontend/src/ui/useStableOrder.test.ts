import { expect, it } from "vitest";
import { stableOrder } from "./useStableOrder";

const own = (key: string) => key;

it("lets rows stand as they come", () => {
  expect(stableOrder(null, ["b", "a"], own)).toEqual(["b", "a"]);
});

it("keeps old rows in place, drops the gone, appends the new in their order", () => {
  expect(stableOrder(["a", "b", "c"], ["d", "c", "e", "a"], own)).toEqual(["a", "c", "d", "e"]);
});
