import { expect, it } from "vitest";
import { shortLabels } from "./shortLabels";

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
