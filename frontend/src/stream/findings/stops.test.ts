import { describe, expect, it } from "vitest";
import { edge, roleOf, texts, wakesOf } from "../../testing/evidence";
import { STOP_RULE } from "./stops";

describe("stops of a JVM", () => {
  /** Threads on average that wait for the VM thread, and cores of it and of collectors. */
  const evidence = (blocked: number, cores: number, waker = "VM Thread", waits = "orders-#") => ({
    roles: [roleOf(waits, 4), roleOf("VM Thread", 1, { cpu: 60 * cores }), roleOf("GC Thread#", 2)],
    ...wakesOf(
      [],
      [
        edge(`role:${waker}`, `role:${waits}`, 20, { blocked }),
        edge(`role:${waker}`, "role:GC Thread#", 20, { blocked: 2 }),
      ],
    ),
  });

  it("are named with who stands still, and with collections if these take the time", () => {
    expect(texts(STOP_RULE, evidence(2, 0.5))).toEqual([
      "Threads of the JVM stop together: orders-# stands still 50.0 % of the time, until VM Thread lets them go on after a safepoint, mostly to collect garbage.",
    ]);
    expect(texts(STOP_RULE, evidence(2, 0.1))[0]).toMatch(/after a safepoint\.$/);
  });

  it("are none if they are short, or if somebody else wakes", () => {
    expect(texts(STOP_RULE, evidence(0.2, 0.5))).toEqual([]);
    expect(texts(STOP_RULE, evidence(2, 0.5, "main"))).toEqual([]);
  });

  it("are none of the JVM's own threads, which the VM thread wakes for work", () => {
    for (const helper of ["Service Thread", "Reference Handl", "C2 CompilerThre"])
      expect(texts(STOP_RULE, evidence(2, 0.5, "VM Thread", helper))).toEqual([]);
  });
});
