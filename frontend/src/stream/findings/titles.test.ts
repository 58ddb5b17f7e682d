import { describe, expect, it } from "vitest";
import { texts, timesOf } from "../../testing/evidence";
import type { ThreadTimes, TitledStay } from "./finding";
import { saidBy, TITLE_RULE } from "./titles";

function titled(tid: number, says: string, seconds = 20): TitledStay {
  const role = "postgres: client backend";
  const thread: ThreadTimes = {
    ...{ key: `${tid}@0`, tid, name: role, role, process: `postgres (${tid})` },
    ...{ born_s: -1, ended_s: Number.POSITIVE_INFINITY },
    ...timesOf(60),
  };
  return { thread, says, seconds };
}

describe("processes that wait by their titles", () => {
  const waits = [1, 2, 3].map((tid) => titled(tid, "UPDATE waiting"));

  it("are named with the process that may be in their way", () => {
    expect(texts(TITLE_RULE, { titled: [...waits, titled(9, "idle in transaction")] })).toEqual([
      "3 processes of postgres: client backend have waited for 20 s and longer, by their titles: “UPDATE waiting”; process 9 may hold what they want, and is “idle in transaction”.",
    ]);
    expect(texts(TITLE_RULE, { titled: waits })).toEqual([
      "3 processes of postgres: client backend have waited for 20 s and longer, by their titles: “UPDATE waiting”.",
    ]);
  });

  it("are no finding if they are few, or wait shortly", () => {
    expect(texts(TITLE_RULE, { titled: waits.slice(0, 1) })).toEqual([]);
    expect(texts(TITLE_RULE, { titled: waits.map((each) => ({ ...each, seconds: 2 })) })).toEqual(
      [],
    );
    expect(
      texts(TITLE_RULE, { titled: [1, 2].map((n) => titled(n, "idle in transaction")) }),
    ).toEqual([]);
  });

  it("say so at the end", () => {
    expect(saidBy("postgres: app shop 10.0.0.7(40112) UPDATE waiting")).toBe("UPDATE waiting");
    expect(saidBy("postgres: app shop [local] idle in transaction")).toBe("idle in transaction");
    expect(saidBy("postgres: app shop [local] idle")).toBe("");
    expect(saidBy("nginx: worker process")).toBe("");
  });
});
