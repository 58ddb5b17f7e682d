import { describe, expect, it } from "vitest";
import { SHADES } from "./roleHues";
import { Threads, threadColour } from "./threads";

describe("threadColour", () => {
  it("is the same in charts, table and map, and stays when ranking changes", () => {
    const threads = new Threads();
    const at = { before_s: 0, now_s: 0 };
    threads.add(10, 0, "main", at, 0);
    const [a, b] = [11, 12].map((tid) => threads.add(tid, 0, `worker-${tid}`, at, 0));
    expect(a?.colour).not.toBe(b?.colour);
    expect(Math.floor((a?.colour ?? 0) / SHADES)).toBe(threads.hueOf("worker-#"));
    if (a) threads.rename(a, "io-1");
    expect(a?.colour).toBe(threadColour(threads.hueOf("io-#"), 11));
  });

  it("tells threads apart where all are of one role, and roles from the second on", () => {
    const threads = new Threads();
    const at = { before_s: 0, now_s: 0 };
    const servers = Array.from({ length: 10 }, (_, n) => threads.add(n + 1, 0, "server", at, 0));
    expect(new Set(servers.map(({ colour }) => colour)).size).toBe(10);
    const hues = () => new Set(servers.map(({ colour }) => Math.floor(colour / SHADES)));
    expect(hues().size).toBe(7);
    threads.add(11, 0, "logger", at, 0);
    expect(hues()).toEqual(new Set([threads.hueOf("server")]));
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
