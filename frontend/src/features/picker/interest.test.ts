import { describe, expect, it } from "vitest";
import { problem, process } from "../../testing/backend";
import { interestsOf } from "./interest";

const service = (pid: number, cpu_percent: number | null, threads = 1) =>
  process({ pid, name: `web-${pid}`, unit: "web.service", cpu_percent, threads });

const leading = (processes: Parameters<typeof interestsOf>[0]) =>
  Object.fromEntries(
    interestsOf(processes).map(({ id, found }) => [
      id,
      found.map(({ name, what, figure }) => `${name} (${what}) ${figure}`),
    ]),
  );

describe("what is interesting on a machine", () => {
  it("is a service or container as a whole, before its processes", () => {
    const container = { id: "0123456789abcdef", name: null, runtime: "docker", pod: null } as const;
    expect(
      leading([
        service(1, 40),
        service(2, 30.5, 9),
        process({ pid: 3, name: "burner", cpu_percent: 60, threads: 2 }),
        process({ pid: 4, name: "a", container: { ...container, pod_name: null }, threads: 6 }),
        process({ pid: 5, name: "b", container: { ...container, pod_name: null }, threads: 60 }),
        process({ pid: 6, name: "idle", cpu_percent: 0.1 }),
      ]),
    ).toEqual({
      busiest: ["web (service, 2 processes) 70.5 %", "burner (pid 3) 60.0 %"],
      threads: ["0123456789ab (container, 2 processes) 66", "web (service, 2 processes) 10"],
    });
  });

  it("attaches to the group, or to the process", () => {
    const [busiest] = interestsOf([service(1, 40), service(2, 30), process({ cpu_percent: 5 })]);
    expect(busiest?.found.map(({ group, process }) => group?.value ?? process?.pid)).toEqual([
      "web.service",
      4200,
    ]);
  });

  it("has who waits for a CPU, and who is throttled by a limit", () => {
    const limited = { unit: "batch.service", throttled_percent: 12.5 };
    expect(
      leading([
        process({ pid: 1, name: "a", wait_percent: 3, ...limited }),
        process({ pid: 2, name: "b", wait_percent: 4, ...limited }),
        process({ pid: 3, name: "c", wait_percent: 0.2, throttled_percent: 0 }),
      ]),
    ).toEqual({
      waiting: ["batch (service, 2 processes) 0.0700 threads"],
      throttled: ["batch (service, 2 processes) 12.5 %"],
    });
  });

  it("takes a service of one process, and the session of a person, as processes", () => {
    const session = { unit: "session-3.scope", threads: 1 } as const;
    expect(
      leading([
        service(1, 40),
        process({ pid: 8, name: "shell", cpu_percent: 20, ...session }),
        process({ pid: 9, name: "vim", cpu_percent: 10, ...session }),
      ]),
    ).toEqual({
      busiest: ["web-1 (pid 1) 40.0 %", "shell (pid 8) 20.0 %", "vim (pid 9) 10.0 %"],
    });
  });

  it("takes servers that fork as one, and not those that start other programs", () => {
    const family = [
      process({ pid: 1, parent: null, name: "init", cpu_percent: 0 }),
      process({ pid: 5, parent: 1, name: "postgres", cpu_percent: 2 }),
      process({ pid: 6, parent: 5, name: "postgres", cpu_percent: 10 }),
      process({ pid: 7, parent: 5, name: "postgres", cpu_percent: 20 }),
      process({ pid: 20, parent: 1, name: "bash", cpu_percent: 3 }),
      process({ pid: 21, parent: 20, name: "bash", cpu_percent: 4 }),
      process({ pid: 22, parent: 21, name: "make", cpu_percent: 5 }),
    ].map((each) => ({ ...each, threads: 1 }));
    const [busiest] = interestsOf(family);
    expect(busiest?.found.map(({ name, what, figure }) => [name, what, figure])).toEqual([
      ["postgres", "tree, 3 processes", "32.0 %"],
      ["make", "pid 22", "5.0 %"],
      ["bash", "pid 21", "4.0 %"],
    ]);
    expect(busiest?.found[0]?.group).toMatchObject({ kind: "tree", pid: 5 });
  });

  it("leaves out what cannot be watched, and says nothing where nothing stands out", () => {
    const refusal = problem("kernel-thread");
    expect(leading([process({ cpu_percent: 90, refusal, threads: 50 })])).toEqual({});
    expect(leading([process({ cpu_percent: null, threads: 2 })])).toEqual({});
  });
});
