import { describe, expect, it } from "vitest";
import { began, DIVISION, decided, decision, STEERING } from "../testing/steering";
import type { SteeringReleased } from "../wire/generated/models";
import { KEPT_DECISIONS, ProgramSteerLogs, SteerLog, sizesTried } from "./steerLog";

function log(): SteerLog {
  const made = new SteerLog();
  made.note(1, began());
  made.note(3.1, decided(3, 16, 12));
  made.note(5.1, decided(5, 12, 12, { ops: 3000 }));
  return made;
}

describe("SteerLog", () => {
  it("is nothing while nothing steers", () => {
    const made = new SteerLog();
    made.note(1, { type: "target_detached" });
    expect([made.view(10), made.edition]).toEqual([null, 0]);
  });

  it("keeps the current size, with the moments that the decisions tell", () => {
    expect(log().sizes.between(0, 9)).toEqual([
      { t_s: 1, value: 16 },
      { t_s: 3, value: 12 },
    ]);
    const made = log();
    made.note(6, { type: "steering_released", policy: "kalman-kg", size: 16, actor: "" });
    expect(made.sizes.between(5, 9).at(-1)).toEqual({ t_s: 6, value: 16 });
    expect(made.rates.between(5, 9).map(({ value }) => value)).toEqual([1500, Number.NaN]);
  });

  it("has a band from the beginning to the release or the next policy", () => {
    const made = log();
    made.note(6, began({ policy: "linear", shadow: true }));
    made.note(8, { type: "steering_released", policy: "linear", size: 16, actor: "" });
    const ends = made
      .view(10)
      ?.bands.map(({ policy, shadow, from_s, to_s }) => [policy, shadow, from_s, to_s]);
    expect(ends).toEqual([
      ["kalman-kg", false, 1, 6],
      ["linear", true, 6, 8],
    ]);
    expect(made.bandAt(7)?.policy).toBe("linear");
    expect(made.bandAt(8)).toBeNull();
    expect(made.lastBand(9)?.policy).toBe("linear");
  });

  it("shows a frozen view as it was then", () => {
    const made = log();
    made.note(6, { type: "steering_released", policy: "kalman-kg", size: 16, actor: "" });
    const view = made.view(4);
    expect(view?.bands[0]?.to_s).toBeNull();
    expect([view?.decisions.length, view?.total]).toEqual([1, 1]);
    expect(made.view(0.5)).toBeNull();
  });

  it("keeps so many decisions and counts all", () => {
    const made = log();
    for (let i = 0; i < KEPT_DECISIONS; i++) made.note(7 + i, decided(7 + i, 12, 12));
    const view = made.view(1e6);
    expect([view?.decisions.length, view?.total]).toEqual([KEPT_DECISIONS, KEPT_DECISIONS + 2]);
    expect(view?.decisions[0]?.id).toBe(2);
  });

  it("compares sizes of one search only", () => {
    const made = log();
    expect(made.view(9)?.tried.map(({ size }) => size)).toEqual([12, 16]);
    // With an unchanged signal and knob, measurements remain valid for the next policy.
    made.note(5.5, began({ policy: "linear" }));
    expect(made.view(9)?.tried_since_s).toBe(1);
    const actor = "the program";
    made.note(6, { type: "search_restarted", policy: "linear", reason: "phase", actor });
    made.note(8, decided(8, 12, 11));
    expect(made.view(9)).toMatchObject({ tried_since_s: 6, tried: [{ size: 12, intervals: 1 }] });
    made.note(10, began({ signal: "network-calls", proxy: true }));
    expect(made.view(11)).toMatchObject({ tried_since_s: 10, tried: [] });
  });

  it("takes from the target what began before the page's first frame, and nothing else", () => {
    const made = new SteerLog();
    made.assume(5, 5.2, STEERING);
    expect(made.view(9)).toBeNull(); // its event may arrive in the next frame
    made.assume(5, 20, STEERING);
    made.assume(5, 21, STEERING);
    expect(made.view(30)?.bands).toMatchObject([{ policy: "kalman-kg", from_s: 5, to_s: null }]);
    made.note(25, { type: "steering_released", policy: "kalman-kg", size: 16, actor: "" });
    made.assume(5, 26, STEERING); // from before the release
    expect(made.bandAt(27)).toBeNull();
    made.assume(28, 31, { ...STEERING, policy: "linear" });
    expect(made.bandAt(30)?.policy).toBe("linear");
  });
});

describe("sizesTried", () => {
  it("leaves out intervals that say nothing, and does not take no wait for 0", () => {
    const tried = sizesTried([
      decision(2, { size: 4, rate: 900 }),
      decision(4, { size: 4, rate: 1100, wait_s: 0.5 }),
      decision(6, { size: 4, rate: 5, counted: false }),
      decision(8, { size: 2, rate: Number.NaN }),
      decision(9, { size: 3, rate: 700 }),
    ]);
    expect(tried).toEqual([
      { size: 3, rate: 700, low: null, high: null, wait_s: null, intervals: 1 },
      // Student's t with one degree of freedom: 12.71 times the standard error, which is 100.
      { size: 4, rate: 1000, low: 0, high: expect.closeTo(2271), wait_s: 0.5, intervals: 2 },
    ]);
  });
});

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
    // Steering may have begun before the recording.
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
    // One ends: the other one gets its cores.
    logs.note(6, released(api));
    logs.note(7, decided(7, 5, 8, { ...worker, ...division(8) }));
    expect(cores(10)).toEqual([[7, 12, 8]]);
    expect(cores(5.5)).toEqual(both);
    // After the last release the initial state is restored.
    logs.note(9, released(worker));
    expect(cores(10)).toEqual([[7, 12, 8]]);
  });

  it("take what began before the page from the target", () => {
    const logs = new ProgramSteerLogs();
    logs.assume({ pid: 11, start_ticks: 1, name: "api", steering: STEERING }, 1, 10);
    expect(logs.programs.get(11)?.log.bandAt(10)?.policy).toBe(STEERING.policy);
  });
});
