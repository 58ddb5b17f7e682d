import { describe, expect, it } from "vitest";
import { began, DIVISION, decided, STEERING } from "../testing/steering";
import type { SteeringReleased } from "../wire/generated/models";
import { ProgramSteerLogs } from "./programSteerLogs";

const api = { pid: 11, program: "api" };
const worker = { pid: 12, program: "worker" };

function released(program: typeof api): SteeringReleased {
  return { type: "steering_released", policy: "arbiter", size: 8, actor: "", ...program };
}

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

  it("know the last division of cores, of programs that were steered then", () => {
    const logs = new ProgramSteerLogs();
    const division = (cores: number) => ({ division: { ...DIVISION, cores } });
    // Steering may have begun before the recording did.
    logs.note(1, began(worker));
    logs.note(4, decided(4, 3, 3, { ...api, ...division(3) }));
    logs.note(5, decided(5, 5, 5, { ...worker, ...division(5) }));
    const cores = (now_s: number) =>
      logs
        .view(now_s)
        ?.divisions.map(({ t_s, program, division }) => [t_s, program?.pid, division.cores]);
    const both = [
      [5, 12, 5],
      [4, 11, 3],
    ];
    expect(cores(4.5)).toEqual([[4, 11, 3]]);
    expect(cores(10)).toEqual(both);
    // One ends: the other one has its cores.
    logs.note(6, released(api));
    logs.note(7, decided(7, 5, 8, { ...worker, ...division(8) }));
    expect(cores(10)).toEqual([[7, 12, 8]]);
    expect(cores(5.5)).toEqual(both);
    // After the end of all it is as it was.
    logs.note(9, released(worker));
    expect(cores(10)).toEqual([[7, 12, 8]]);
  });

  it("take what began before the page from the target", () => {
    const logs = new ProgramSteerLogs();
    logs.assume({ pid: 11, start_ticks: 1, name: "api", steering: STEERING }, 1, 10);
    expect(logs.programs.get(11)?.log.bandAt(10)?.policy).toBe(STEERING.policy);
  });
});
