import { expect, it } from "vitest";
import { placeApart } from "./endLabels";

const ROOM = [10, 190] as const;

it("leaves labels where they want to be while they do not touch", () => {
  expect(placeApart([20, 60, 150], 24, ROOM)).toEqual([20, 60, 150]);
});

it("sets labels that want the same place around it", () => {
  expect(placeApart([100, 100, 100], 24, ROOM)).toEqual([76, 100, 124]);
});

it("moves only those that touch", () => {
  expect(placeApart([20, 100, 104, 180], 24, ROOM)).toEqual([20, 90, 114, 180]);
});

it("keeps labels within their room", () => {
  expect(placeApart([188, 189, 190], 24, ROOM)).toEqual([142, 166, 190]);
  expect(placeApart([-50, 10], 24, ROOM)).toEqual([10, 34]);
});

it("keeps the order that it is given, even where ends have crossed", () => {
  expect(placeApart([80, 40], 24, ROOM)).toEqual([48, 72]);
});

it("says when there is no room", () => {
  expect(placeApart(Array(8).fill(100), 24, ROOM)).toHaveLength(8);
  expect(placeApart(Array(9).fill(100), 24, ROOM)).toBeNull();
});
