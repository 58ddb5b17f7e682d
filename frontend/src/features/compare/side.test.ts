import { expect, it } from "vitest";
import { parseSide, runOf, shortLabels, sideOf, typedWindow, windowOf, windowText } from "./side";

const RUN = "r-20261121-130000-00000a";

it("names a run and a window of it as the backend does", () => {
  expect(parseSide(RUN)).toBe(RUN);
  expect(parseSide(`${RUN}@012.50-42.000`)).toBe(`${RUN}@12.5-42`);
  expect(sideOf(RUN, { from_s: 12.49999, to_s: 42 })).toBe(`${RUN}@12.5-42`);
  expect(sideOf(RUN, null)).toBe(RUN);
  for (const wrong of ["", "x", `${RUN}@`, `${RUN}@5-3`, `${RUN}@5-5`, `${RUN}@-1-3`]) {
    expect(parseSide(wrong)).toBeNull();
  }
});

it("takes a side apart", () => {
  expect(runOf(`${RUN}@12.5-42`)).toBe(RUN);
  expect(windowOf(`${RUN}@12.5-42`)).toEqual({ from_s: 12.5, to_s: 42 });
  expect([runOf(RUN), windowOf(RUN)]).toEqual([RUN, null]);
  expect(windowText({ from_s: 12.5, to_s: 42 })).toBe("12.5–42 s");
});

it("reads what a person types", () => {
  expect(typedWindow(" 12.5 – 42 s")).toEqual({ from_s: 12.5, to_s: 42 });
  expect(typedWindow("0-30")).toEqual({ from_s: 0, to_s: 30 });
  expect(typedWindow("  ")).toBeNull();
  for (const wrong of ["30-0", "12", "a-b", "1-"]) expect(typedWindow(wrong)).toBeUndefined();
});

it.each([
  [
    ["kv 1: policy=linear size=1", "kv 1: policy=linear size=4"],
    ["size=1", "size=4"],
  ],
  [
    ["web before", "web after deploy"],
    ["before", "after deploy"],
  ],
  [
    ["static", "adaptive"],
    ["static", "adaptive"],
  ],
  [
    ["web", "web tuned"],
    ["web", "web tuned"],
  ],
  [
    ["same", "same"],
    ["same", "same"],
  ],
  [["alone"], ["alone"]],
])("%j are %j", (labels, short) => {
  expect(shortLabels(labels)).toEqual(short);
});
