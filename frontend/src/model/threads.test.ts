import { describe, expect, it } from "vitest";
import { SHADES, Threads, threadColour } from "./threads";

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

describe("applyRules", () => {
  it("puts all threads into other roles, those to come and those that ended too", () => {
    const threads = new Threads();
    const at = { before_s: 0, now_s: 0 };
    const a = threads.add(1, 0, "shard-1", at, 0);
    const b = threads.add(2, 0, "shard-2", at, 0);
    threads.end(b, { before_s: 1, now_s: 1 }, true);
    expect([a.role, b.role]).toEqual(["shard-#", "shard-#"]);
    threads.applyRules([{ pattern: "shard-*", role: "*" }]);
    const c = threads.add(3, 0, "shard-3", at, 0);
    expect([a.role, b.role, c.role]).toEqual(["shard-1", "shard-2", "shard-3"]);
    expect(new Set([a.roleIndex, b.roleIndex, c.roleIndex]).size).toBe(3);
  });
});
