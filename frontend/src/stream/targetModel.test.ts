import { describe, expect, it } from "vitest";
import { FIELDS, frame, type Row } from "../testing/frames";
import { began, decided } from "../testing/steering";
import type { TargetEvent } from "../wire/generated/models";
import { TargetModel } from "./targetModel";

const MAIN: Row = { tid: 1, start_s: -5, name: "main", counters: { cpu_run_ns: 100 } };
const WORKER: Row = { tid: 2, start_s: -4, name: "worker-2", counters: { cpu_run_ns: 50 } };

function started(): TargetModel {
  const model = new TargetModel();
  model.ingest(frame({ seq: 1 }, [MAIN, WORKER]));
  return model;
}

function exit(tid: number, start_s: number, cpu_run_ns: number, exact = true): TargetEvent {
  return {
    type: "thread_exited",
    tid,
    start_ns: start_s * 1e9,
    name: `worker-${tid}`,
    totals: { cpu_run_ns },
    exact,
    seen_alive: true,
  };
}

function total(model: TargetModel, field: (typeof FIELDS)[number] = "cpu_run_ns"): number {
  return model.counters.latest[model.counters.columnOf(field)] ?? Number.NaN;
}

describe("TargetModel", () => {
  it("takes a key frame: threads, roles, totals; what no thread has is absent", () => {
    const model = started();
    expect([...model.threads.live.values()].map(({ key, role }) => [key, role])).toEqual([
      ["1@-5000000000", "main"],
      ["2@-4000000000", "worker-#"],
    ]);
    expect(total(model)).toBe(150);
    expect(total(model, "disk_read_bytes")).toBeNaN();
  });

  it("leaves threads that are not in a delta as they were", () => {
    const model = started();
    model.ingest(frame({ seq: 2 }, [{ tid: 2, counters: { cpu_run_ns: 60 } }]));
    expect(total(model)).toBe(160);
    expect(model.threads.live.size).toBe(2);
  });

  it("counts on after a counter of a thread was reset, and loses nothing of the sum", () => {
    const model = started();
    model.ingest(frame({ seq: 2 }, [{ tid: 2, counters: { cpu_run_ns: 3 } }]));
    expect(total(model)).toBe(150);
    model.ingest(frame({ seq: 3 }, [{ tid: 2, counters: { cpu_run_ns: 13 } }]));
    expect(total(model)).toBe(160);
    expect(model.threads.live.get(2)?.reset).toBe(true);
  });

  it("starts with a key frame only", () => {
    const model = new TargetModel();
    expect(model.ingest(frame({ seq: 4 }, [{ tid: 2, counters: {} }]))).toBe(false);
    expect(model.ingest(frame({ seq: 5 }, [MAIN]))).toBe(true);
    expect(model.losses.gaps).toBe(0);
  });

  it("is not reset by a key frame in a stream that goes on", () => {
    const model = started();
    const before = model.threads.live.get(2);
    model.ingest(frame({ seq: 2 }, [MAIN, { ...WORKER, counters: { cpu_run_ns: 70 } }]));
    expect(model.threads.live.get(2)).toBe(before);
    expect(total(model)).toBe(170);
    expect(model.history.between(0, 1).n).toBe(2);
  });

  it("leaves out frames that it has", () => {
    const model = started();
    expect(model.ingest(frame({ seq: 1 }, [MAIN]))).toBe(false);
    expect(model.threads.live.size).toBe(2);
  });

  it("keeps the process' total growing when a thread exits", () => {
    const model = started();
    const exited = { threads: 1, totals: { cpu_run_ns: 55 } };
    model.ingest(frame({ seq: 2, events: [exit(2, -4, 55)], exited }, []));
    expect(total(model)).toBe(155);
    expect(model.threads.live.size).toBe(1);
    expect(model.threads.ended[0]).toMatchObject({ tid: 2, end_s: 0.2, exact: true });
    model.ingest(frame({ seq: 3, exited }, [{ tid: 1, counters: { cpu_run_ns: 110 } }]));
    expect(total(model)).toBe(165);
  });

  it("takes frames that are divided, all of one instant, for one", () => {
    const rows = [{ tid: 1, counters: { cpu_run_ns: 110 } }];
    const exits = [exit(2, -4, 55), { ...exit(7, 0.12, 9), seen_alive: false } as TargetEvent];
    const whole = started();
    const all = { threads: 2, totals: { cpu_run_ns: 64 } };
    whole.ingest(frame({ seq: 2, events: exits, exited: all }, rows));
    const divided = started();
    const some = { threads: 1, totals: { cpu_run_ns: 55 } };
    const parts = [
      frame({ seq: 2, t_s: 0.2, events: exits.slice(0, 1), exited: some }, []),
      frame({ seq: 3, t_s: 0.2, events: exits.slice(1), exited: all }, []),
      frame({ seq: 4, t_s: 0.2, exited: all }, rows),
    ];
    for (const part of parts) expect(divided.ingest(part)).toBe(true);
    expect(total(divided)).toBe(total(whole));
    expect(total(divided)).toBe(174);
    expect(divided.arrivals.hz).toBe(whole.arrivals.hz);
    expect(divided.threads.ended.map(({ tid }) => tid)).toEqual([2, 7]);
    expect(divided.history.from_s).toBe(whole.history.from_s);
    expect(divided.losses).toMatchObject({ missing: 0, gaps: 0 });
    expect(divided.ingest(frame({ seq: 5, t_s: 0.1 }, rows))).toBe(false);
  });

  it("takes a tid that is used again for another thread", () => {
    const model = started();
    const born: TargetEvent = { type: "thread_born", tid: 2, start_ns: 150e6, name: "worker-9" };
    const exited = { threads: 1, totals: { cpu_run_ns: 55 } };
    model.ingest(
      frame({ seq: 2, events: [exit(2, -4, 55), born], exited, threads_born: 1 }, [
        { tid: 2, counters: { cpu_run_ns: 3 } },
      ]),
    );
    const thread = model.threads.live.get(2);
    expect(thread?.key).toBe("2@150000000");
    expect(model.counters.latest[(thread?.slot ?? 0) * FIELDS.length]).toBe(3);
    const [old] = model.threads.ended;
    expect(model.counters.latest[(old?.slot ?? 0) * FIELDS.length]).toBe(55);
    expect(total(model)).toBe(158);
    expect(model.born).toBe(1);
  });

  it("does not raise the dead of a merged frame that has their row as well", () => {
    const model = started();
    const exited = { threads: 1, totals: { cpu_run_ns: 55 } };
    model.ingest(
      frame({ seq: 3, first_seq: 2, events: [exit(2, -4, 55)], exited }, [MAIN, WORKER]),
    );
    expect([...model.threads.live.keys()]).toEqual([1]);
    expect(total(model)).toBe(155);
  });

  it("ends threads that a key frame does not name", () => {
    const model = started();
    model.ingest(frame({ seq: 9 }, [MAIN]));
    expect(model.threads.ended[0]).toMatchObject({ tid: 2, exact: false });
  });

  it("counts what was merged and what is missing, each once", () => {
    const model = started();
    model.ingest(frame({ seq: 4, first_seq: 2 }, []));
    expect(model.losses).toMatchObject({ frames: 2, coalesced: 2, missing: 0, gaps: 0 });
    model.ingest(frame({ seq: 8, first_seq: 7 }, []));
    expect(model.losses).toMatchObject({ frames: 3, coalesced: 3, missing: 2, gaps: 1 });
    expect(model.losses.stretches).toEqual([[0.4, 0.8]]);
    expect(model.events.between(0, 9).map((logged) => logged.event)).toEqual([
      { type: "gap", from_seq: 5, to_seq: 6, reason: "frames did not reach this page" },
    ]);
  });

  it("does not tell of a gap twice", () => {
    const model = started();
    const gap: TargetEvent = { type: "gap", from_seq: 2, to_seq: 4, reason: "ring" };
    model.ingest(frame({ seq: 5, events: [gap] }, []));
    expect(model.events.between(0, 9).map((logged) => logged.event)).toEqual([gap]);
    expect(model.losses.missing).toBe(3);
  });

  it("renames a thread and its role", () => {
    const model = started();
    const event: TargetEvent = {
      type: "thread_renamed",
      tid: 2,
      name: "io-7",
      previous: "worker-2",
    };
    model.ingest(frame({ seq: 2, events: [event] }, []));
    expect(model.threads.live.get(2)).toMatchObject({ name: "io-7", role: "io-#", roleIndex: 2 });
  });

  it("keeps a thread that lived between two samples, with its totals", () => {
    const model = started();
    const event = { ...exit(7, 0.12, 9), seen_alive: false } as TargetEvent;
    const exited = { threads: 1, totals: { cpu_run_ns: 9 } };
    model.ingest(frame({ seq: 2, events: [event], exited }, []));
    const [thread] = model.threads.ended;
    expect(thread).toMatchObject({ tid: 7, seen_s: 0.2, end_s: 0.2 });
    expect(model.counters.latest[(thread?.slot ?? 0) * FIELDS.length]).toBe(9);
    expect(total(model)).toBe(159);
  });

  it("does not take what an old thread did before it was listed for growth", () => {
    const model = started();
    const born: TargetEvent = { type: "thread_born", tid: 7, start_ns: -90e9, name: "skipped" };
    model.ingest(frame({ seq: 2, events: [born] }, [{ tid: 7, counters: { cpu_run_ns: 900 } }]));
    expect(total(model)).toBe(150);
    model.ingest(frame({ seq: 3 }, [{ tid: 7, counters: { cpu_run_ns: 905 } }]));
    expect(total(model)).toBe(155);
    const exited = { threads: 1, totals: { cpu_run_ns: 906 } };
    const gone = { ...exit(7, -90, 906) } as TargetEvent;
    model.ingest(frame({ seq: 4, events: [gone], exited }, []));
    expect(total(model)).toBe(156);
  });

  it("neither falls nor leaps when a thread's exit is reported after a key frame without it", () => {
    const model = started();
    const totals: number[] = [];
    model.ingest(frame({ seq: 2 }, [MAIN]));
    totals.push(total(model));
    const exited = { threads: 1, totals: { cpu_run_ns: 52 } };
    model.ingest(frame({ seq: 3, events: [exit(2, -4, 52)], exited }, []));
    totals.push(total(model));
    expect(totals).toEqual([150, 152]);
    expect(model.threads.ended).toHaveLength(1);
    expect(model.threads.ended[0]).toMatchObject({ tid: 2, exact: true, end_s: 0.2 });
    expect(model.counters.latest[(model.threads.ended[0]?.slot ?? 0) * FIELDS.length]).toBe(52);
  });

  it("remembers how the target ended", () => {
    const model = started();
    model.ingest(frame({ seq: 2, events: [{ type: "target_exited", exit_code: 256 }] }, []));
    expect([model.ended, model.exit_code]).toEqual(["exited", 256]);
  });

  it("takes thousands of exits without growing without bound", () => {
    const model = started();
    for (let i = 0; i < 5000; i++) {
      const event = { ...exit(100 + i, i / 10, 1), seen_alive: false } as TargetEvent;
      model.ingest(frame({ seq: i + 2, events: [event] }, []));
    }
    expect(model.threads.ended).toHaveLength(2000);
    expect(model.threads.folded).toBe(3000);
    expect(model.threads.slots).toBeLessThan(2100);
  });

  it("lists decisions that change something, and keeps all of them for the timeline", () => {
    const model = new TargetModel();
    const row: Row = { tid: 1, start_s: 0, name: "main", counters: {} };
    model.ingest(frame({ seq: 1, events: [began(), decided(3, 16, 12)], t_s: 3.1 }, [row]));
    model.ingest(frame({ seq: 2, events: [decided(5, 12, 12)], t_s: 5.1 }, [row]));
    expect(model.events.between(0, 9).map(({ event }) => event.type)).toEqual([
      "steering_started",
      "steering_decided",
    ]);
    expect(model.steer.view(9)?.total).toBe(2);
  });
});

describe("a page that comes later", () => {
  const baseline = frame({ seq: 1, t_s: 0, baseline: true }, [MAIN, WORKER]);
  const BORN: Row = { tid: 9, start_s: 40, name: "late", counters: { cpu_run_ns: 7 } };
  const exited = { threads: 1, totals: { cpu_run_ns: 55 } };
  const main = { ...MAIN, counters: { cpu_run_ns: 180 } };
  const kept = frame({ seq: 900, t_s: 90, exited, threads_born: 1 }, [main, BORN]);
  const newest = frame({ seq: 901, t_s: 90.1, exited, threads_born: 1 }, [
    { tid: 1, counters: { cpu_run_ns: 190 } },
  ]);

  function late(): TargetModel {
    const model = new TargetModel();
    for (const each of [baseline, kept, newest]) model.ingest(each);
    return model;
  }

  it("has the same sums since attach as one that saw everything", () => {
    const model = late();
    const first = model.counters.first[model.counters.ringColumn[0] ?? 0] ?? Number.NaN;
    expect(total(model) - first).toBe(190 + 55 + 7 - 150);
    expect([model.born, model.exited]).toEqual([1, 1]);
    expect(model.first_s).toBe(0);
  });

  it("does not take what is no longer kept for a loss", () => {
    const model = late();
    expect(model.losses).toMatchObject({ frames: 3, coalesced: 0, missing: 0, gaps: 0 });
    expect(model.losses.stretches).toEqual([]);
    expect(model.events.between(0, 99)).toEqual([]);
    expect([model.since_s, model.history.from_s]).toEqual([90, 90]);
  });

  it("counts what is missing after that", () => {
    const model = late();
    model.ingest(frame({ seq: 904, t_s: 90.4 }, []));
    expect(model.losses).toMatchObject({ missing: 2, gaps: 1 });
  });
});

describe("lost frames that the backend tells of", () => {
  const lost = (from_seq: number, to_seq: number) =>
    ({
      type: "frames_lost",
      target: "t",
      from_seq,
      to_seq,
      reason: "page too far behind",
    }) as const;
  const gapsOf = (model: TargetModel) => model.events.between(0, 99).map(({ event }) => event);

  it("are shown before the next frame comes, and counted once", () => {
    const model = started();
    model.noteLost(lost(2, 5));
    const gap = { type: "gap", from_seq: 2, to_seq: 5, reason: "page too far behind" };
    expect(gapsOf(model)).toEqual([gap]);
    expect(model.losses).toMatchObject({ missing: 4, gaps: 1 });
    model.ingest(frame({ seq: 6 }, [MAIN, WORKER]));
    expect(gapsOf(model)).toEqual([gap]);
    expect(model.losses).toMatchObject({ missing: 4, gaps: 1 });
    expect(model.losses.stretches).toEqual([[0.1, 0.6]]);
  });

  it("give the gap its reason that the numbers of frames showed before", () => {
    const model = started();
    model.ingest(frame({ seq: 6 }, [MAIN, WORKER]));
    model.noteLost(lost(2, 5));
    expect(gapsOf(model)).toEqual([
      { type: "gap", from_seq: 2, to_seq: 5, reason: "page too far behind" },
    ]);
    expect(model.losses).toMatchObject({ missing: 4, gaps: 1 });
  });

  it("do not hide others that are missing as well", () => {
    const model = started();
    model.noteLost(lost(2, 3));
    model.ingest(frame({ seq: 8 }, [MAIN, WORKER]));
    expect(model.losses).toMatchObject({ missing: 6, gaps: 2 });
    expect(gapsOf(model)).toHaveLength(2);
  });

  it("mean nothing to a page that has no frame yet", () => {
    const model = new TargetModel();
    model.noteLost(lost(1, 5));
    expect(model.losses.missing).toBe(0);
  });
});
