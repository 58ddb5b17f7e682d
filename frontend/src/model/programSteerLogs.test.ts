import { describe, expect, it } from "vitest";
import { began, decided, STEERING } from "../testing/steering";
import { ProgramSteerLogs } from "./programSteerLogs";

const api = { pid: 11, program: "api" };
const worker = { pid: 12, program: "worker" };

describe("logs of a group's programs", () => {
  it("leave what is of no program", () => {
    const logs = new ProgramSteerLogs();
    expect(logs.note(1, began())).toBe(false);
    expect(logs.note(1, { type: "thread_born", tid: 1, name: "a", pid: 1 } as never)).toBe(false);
    expect(logs.view(10)).toBeNull();
  });

  it("keep decisions apart, and show them in order with the program's name", () => {
    const logs = new ProgramSteerLogs();
    expect(logs.note(1, began(api))).toBe(true);
    logs.note(1, began(worker));
    logs.note(5, decided(5, 8, 9, worker));
    logs.note(4, decided(4, 3, 2, api));
    const view = logs.view(10);
    expect(
      view?.decisions.map(({ program, size, next_size }) => [program, size, next_size]),
    ).toEqual([
      ["api (11)", 3, 2],
      ["worker (12)", 8, 9],
    ]);
    expect(view?.total).toBe(2);
    expect(new Set(view?.decisions.map(({ id }) => id)).size).toBe(2);
    expect(logs.programs.get(11)?.log.rates.last).toBe(1000);
  });

  it("begin again with another program of the same id", () => {
    const logs = new ProgramSteerLogs();
    logs.note(1, began(api));
    logs.note(4, decided(4, 3, 2, api));
    logs.note(6, began({ pid: 11, program: "other" }));
    expect(logs.programs.get(11)?.name).toBe("other");
    expect(logs.view(10)?.total).toBe(0);
  });

  it("take what began before the page from the target", () => {
    const logs = new ProgramSteerLogs();
    logs.assume({ pid: 11, start_ticks: 1, name: "api", steering: STEERING }, 1, 10);
    expect(logs.programs.get(11)?.log.bandAt(10)?.policy).toBe(STEERING.policy);
  });
});
