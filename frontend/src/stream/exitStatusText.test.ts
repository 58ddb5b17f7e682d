import { expect, it } from "vitest";
import { exitStatusText } from "./exitStatusText";

it.each([
  [null, "exit status unknown"],
  [0, "exit code 0"],
  [3 << 8, "exit code 3"],
  [9, "killed by SIGKILL"],
  [11 | 0x80, "killed by SIGSEGV"],
  [40, "killed by signal 40"],
])("describes %s", (status, words) => {
  expect(exitStatusText(status)).toBe(words);
});
