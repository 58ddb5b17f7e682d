import { expect, it } from "vitest";
import { exitStatusText } from "./exitStatusText";

it.each([
  [null, "its exit status is not known"],
  [0, "exit code 0"],
  [3 << 8, "exit code 3"],
  [9, "ended by SIGKILL"],
  [11 | 0x80, "ended by SIGSEGV"],
  [40, "ended by signal 40"],
])("%s", (status, words) => {
  expect(exitStatusText(status)).toBe(words);
});
