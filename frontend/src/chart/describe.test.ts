import { describe, expect, it } from "vitest";
import { NO_PARTS } from "../stream/breakdown";
import { chart, line } from "../testing/charts";
import { began, decided, steerView } from "../testing/steering";
import { describeChart, describeEvent, describeTimes, lineName, othersNote } from "./describe";

describe("describeTimes", () => {
  const parts = { cpu: 3, queue: 1, blkio: Number.NaN, swapin: Number.NaN, memory: 0.01 };
  const row = {
    ...{ key: "", name: "all threads", colour: 0, threads: 2, wall_s: 10, folded_s: 0 },
    parts: { ...NO_PARTS, ...parts, irq: 0, unsplit: 5.99, rest: 0 },
  };
  const times = {
    scope: "process",
    name: "all threads",
    whole: row,
    roles: [],
    absent: [],
    ledger: false,
    no_ledger: null,
  } as const;

  it("gives shares, largest first, and leaves out what is next to nothing", () => {
    expect(describeTimes(times)).toBe(
      "all threads: other (not measured) 60 %, on CPU 30 %, run-queue delay 10 %.",
    );
  });

  it("names what is not available, once", () => {
    const absent = [
      { part: "blkio", reason: "off" },
      { part: "blkio", reason: "old" },
    ] as const;
    expect(describeTimes({ ...times, absent })).toMatch(/Not fully available: block I\/O delay\.$/);
  });

  it("says that no thread lived", () => {
    expect(describeTimes({ ...times, whole: { ...row, wall_s: 0 } })).toMatch(/no thread lived/);
  });
});

describe("describeChart and describeEvent", () => {
  const view = chart(
    [0, 1],
    [
      { line: line({ name: "worker-1", tid: 7, last: 0.25 }), low: [0, 0.25] },
      { line: line({ last: 1.5 }), low: [0, 1.5] },
      {
        line: line({ key: null, tid: null, name: "others", kind: "others", last: 9 }),
        low: [9, 9],
      },
    ],
    { others: 12 },
  );

  it("describes a chart by its largest lines", () => {
    expect(describeChart(view, "CPU per thread")).toBe(
      "CPU per thread, 10 s: main (1) 1.50 cores, worker-1 (7) 0.250 cores. 12 more threads in one line.",
    );
    const lines = view.lines.map((each) => ({ ...each, tid: null, pid: 4 }));
    expect(describeChart({ ...view, lines }, "CPU")).toContain(
      "worker-1 (4) 0.250 cores. 12 more processes in one line.",
    );
    expect(describeChart({ ...view, state: "absent", reason: "needs eBPF" }, "Network")).toBe(
      "Network: not available. needs eBPF",
    );
    expect(describeChart(null, "CPU")).toBe("CPU: loading.");
    expect(othersNote(view)).toBe("others ↑ 9.00 cores");
    expect(lineName(line({ variant_name: "read" }))).toBe("main (1) read");
  });

  it("describes events", () => {
    const exited = { type: "target_exited", exit_code: 256 } as const;
    expect(describeEvent(exited)).toBe("The process exited: exit code 1.");
    expect(describeEvent({ ...exited, exit_code: 9 })).toBe(
      "The process exited: killed by SIGKILL.",
    );
    const adapted = { type: "rate_adapted", requested_hz: 10, budget_percent: 2 } as const;
    expect(describeEvent({ ...adapted, rate_hz: 4, previous_hz: 10, overhead_percent: 4.96 })).toBe(
      "Sampling rate lowered from 10 to 4 Hz (10 requested): sampling used 4.96 % of a core (budget 2 %).",
    );
    expect(
      describeEvent({
        ...{ ...adapted, rate_hz: 8, previous_hz: 10, overhead_percent: 0.5 },
        undelivered_bytes: 32 * 1024 ** 2,
      }),
    ).toBe(
      "Sampling rate lowered from 10 to 8 Hz (10 requested): 32.0 MiB of frames wait to be delivered.",
    );
    expect(
      describeEvent({ ...adapted, rate_hz: 10, previous_hz: 4, overhead_percent: 0.5 }),
    ).toContain("raised from 4 to 10 Hz");
    expect(describeEvent({ type: "exit_records_lost", count: 1 })).toBe(
      "1 exit record was lost on this host.",
    );
    expect(describeEvent({ type: "gap", from_seq: 5, to_seq: 6, reason: "slow" })).toBe(
      "2 frames are missing: slow.",
    );
  });

  it("tells what steers", () => {
    const actor = "a page at 127.0.0.1";
    const policy = "kalman-kg";
    expect(describeEvent(began())).toBe(
      "kalman-kg steers from size 16, between 1 and 16, on operations (agent) (by a page at 127.0.0.1).",
    );
    expect(describeEvent(began({ shadow: true, proxy: true, signal: "network-calls" }))).toContain(
      "decides in shadow mode from size 16, between 1 and 16, on network calls, a proxy signal (by",
    );
    expect(describeEvent(decided(3, 8, 9))).toBe("kalman-kg: 8 → 9. 9 may be better.");
    expect(describeEvent(decided(3, 8, 8))).toBe("kalman-kg stays at 8. 8 may be better.");
    expect(describeEvent({ type: "search_restarted", policy, reason: "a phase", actor })).toBe(
      "kalman-kg search restarted: a phase (a page at 127.0.0.1).",
    );
    expect(describeEvent({ type: "steering_released", policy, size: 16, actor })).toContain(
      "size 16 restored",
    );
    expect(describeEvent({ type: "steering_problem", policy, problem: null })).toBe(
      "kalman-kg works again.",
    );
  });

  it("says of a group which program changed its size", () => {
    const changed = { type: "gomaxprocs_changed", size: 4, previous: 8 } as const;
    expect(describeEvent(changed)).toBe("GOMAXPROCS went from 8 to 4.");
    expect(describeEvent({ ...changed, pid: 7 })).toBe("Process 7: GOMAXPROCS went from 8 to 4.");
  });

  it("tells it in the words of the timeline, and of no other chart", () => {
    const sizes = [{ line: line({ key: null, tid: null, name: "GOMAXPROCS", last: 9 }), low: [9] }];
    const view = chart([5], sizes, { chart: "gomaxprocs", unit: "count", t1_s: 9.95 });
    const words = describeChart(view, "GOMAXPROCS", steerView());
    expect(words).toMatch(/^GOMAXPROCS, 10 s: GOMAXPROCS 9\. Steered by kalman-kg\. 2 decisions/);
    expect(describeChart({ ...view, chart: "cpu" }, "CPU", steerView())).not.toContain("Steered");
  });
});
