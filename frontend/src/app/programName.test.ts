import { expect, it } from "vitest";
import { programName } from "./programName";

it.each([
  [
    "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Firefox 140 on Linux",
  ],
  [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0",
    "Edge 142 on Windows",
  ],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
    "Safari 26 on Mac OS X",
  ],
  ["tidscope steer", "tidscope steer"],
  ["", "Unknown program"],
  ["x".repeat(60), `${"x".repeat(39)}…`],
])("%s", (label, name) => {
  expect(programName(label)).toBe(name);
});
