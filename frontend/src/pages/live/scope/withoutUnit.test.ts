import { expect, it } from "vitest";
import { withoutUnit } from "./withoutUnit";

it.each([
  ["0.62 cores", "0.62"],
  ["12.3 s", "12.3"],
  ["554 /s", "554"],
  ["1.23 k/s", "1.23 k"],
  ["2.00 KiB/s", "2.00 KiB"],
  ["8.00 MiB", "8.00 MiB"],
  ["10.2 %", "10.2 %"],
  ["–", "–"],
])("%s", (text, bare) => {
  expect(withoutUnit(text)).toBe(bare);
});
