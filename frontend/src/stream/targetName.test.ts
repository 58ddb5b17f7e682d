import { describe, expect, it } from "vitest";
import { commandLine, runCommandLine } from "./targetName";

describe("command lines", () => {
  it("are shown as they are", () => {
    const process = { name: "sort", executable: "/usr/bin/sort", command: "sort -u" };
    expect(commandLine(process)).toBe("sort -u");
    expect(runCommandLine({ process: "sort", command: "sort -u" })).toBe("sort -u");
  });

  it("that are hidden say so, with the executable", () => {
    const process = { name: "sort", executable: "/usr/bin/sort", command: null };
    const hidden = "(arguments are hidden from viewers)";
    expect(commandLine(process)).toBe(`/usr/bin/sort ${hidden}`);
    expect(commandLine({ ...process, executable: null })).toBe(`sort ${hidden}`);
    expect(runCommandLine({ process: "sort", command: null })).toBe(`sort ${hidden}`);
  });
});
