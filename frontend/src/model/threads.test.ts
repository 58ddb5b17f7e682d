import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { roleOf, SHADES, Threads, threadColour } from "./threads";

/** Shared with the collector's rule (tests/contract/test_roles.py). */
const CASES = JSON.parse(
  readFileSync(new URL("../../../tests/contract/roles.json", import.meta.url), "utf8"),
) as [name: string, role: string][];

describe("roleOf", () => {
  it.each(CASES)("%j is a %j", (name, role) => {
    expect(roleOf(name)).toBe(role);
  });
});

describe("threadColour", () => {
  it("is the same in charts, table and map, and stays when ranking changes", () => {
    const threads = new Threads();
    const [a, b] = [11, 12].map((tid) =>
      threads.add(tid, 0, `worker-${tid}`, { before_s: 0, now_s: 0 }, 0),
    );
    expect(a?.colour).not.toBe(b?.colour);
    expect(Math.floor((a?.colour ?? 0) / SHADES)).toBe(a?.roleIndex);
    if (a) threads.rename(a, "io-1");
    expect(a?.colour).toBe(threadColour(1, 11));
  });
});
