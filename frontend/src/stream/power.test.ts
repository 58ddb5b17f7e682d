import { describe, expect, it } from "vitest";
import { FIELDS, frame, MACHINE, TARGET } from "../testing/frames";
import type { MachineCounters, Target } from "../wire/generated/models";
import type { ViewInput } from "./chartView";
import { movingRates } from "./currentRates";
import { MachineLog } from "./machineLog";
import { powerTile, wattsPerCore } from "./power";
import { filterFrom } from "./rank";
import { tableView } from "./tableView";
import { TargetModel } from "./targetModel";
import { DEFAULT_REQUEST, DEFAULT_TABLE } from "./viewRequest";

const RAPL: Target["energy"] = {
  domains: [
    { zone: "intel-rapl:0", name: "package-0", kind: "package", summed: true },
    { zone: "intel-rapl:0:0", name: "package-0/core", kind: "core", summed: false },
  ],
  reason: "RAPL, sum of package-0",
};

/** Readings a second apart; watts of each second. */
function logOf(...watts: readonly number[]): MachineLog {
  const log = new MachineLog();
  log.note({ ...MACHINE, package_uj: 0, cpu_busy_us: 0 });
  let joules = 0;
  for (const [i, power] of watts.entries()) {
    joules += power;
    const reading = {
      ...MACHINE,
      time_ns: 1e9 * (i + 1),
      package_uj: 1e6 * joules,
      cpu_busy_us: 2e6 * (i + 1),
    };
    log.note(reading);
    log.note(reading); // intermediate frames repeat the reading
  }
  return log;
}

describe("MachineLog", () => {
  it("takes power over the last two seconds, up to a moment", () => {
    const log = logOf(10, 20, 40, 60);
    expect(log.at(4)).toEqual({ watts: 50, busy_cores: 2 });
    expect(log.at(3.99)).toEqual({ watts: 30, busy_cores: 2 });
    expect(log.at(1)).toEqual({ watts: 10, busy_cores: 2 });
    expect(log.energyAt(2.5)).toBe(30);
    expect(log.energyAt(99)).toBe(130);
  });

  it("keeps what is younger than its age, and the reading that begins it", () => {
    const log = new MachineLog(10);
    for (let t = 0; t < 1000; t++) {
      log.note({ ...MACHINE, time_ns: 1e9 * t, package_uj: 1e6 * 5 * t, cpu_busy_us: 0 });
    }
    expect(log.energyAt(989)).toBe(5 * 989);
    expect(log.energyAt(970)).toBeNaN();
    expect([...log.sampled(990, 999, 3)]).toEqual([5, 5, 5]);
  });

  it("does not know before there are two readings", () => {
    expect(new MachineLog().at(1).watts).toBeNaN();
    expect(logOf().at(5).watts).toBeNaN();
    expect(new MachineLog().energyAt(1)).toBeNaN();
    expect([...new MachineLog().sampled(0, 2, 2)]).toEqual([Number.NaN, Number.NaN]);
  });

  it("gives power over a span: each moment that of its second, the newest holds on", () => {
    expect([...logOf(10, 20, 40).sampled(0, 4, 8)]).toEqual([10, 10, 20, 20, 40, 40, 40, 40]);
    expect([...logOf(10).sampled(-2, 2, 4)]).toEqual([Number.NaN, Number.NaN, 10, 10]);
  });

  it("has no power where a counter started again", () => {
    const log = logOf(10, 20);
    log.note({ ...MACHINE, time_ns: 3e9, package_uj: 30e6, cpu_busy_us: 6e6, gaps: 1 });
    log.note({ ...MACHINE, time_ns: 4e9, package_uj: 35e6, cpu_busy_us: 8e6, gaps: 1 });
    expect([...log.sampled(0, 4, 4)]).toEqual([10, 20, Number.NaN, 5]);
    expect(log.at(4).watts).toBeNaN();
    expect([log.holesAt(2), log.holesAt(4)]).toEqual([false, true]);
  });
});

describe("wattsPerCore", () => {
  it("divides the packages' power by the CPU time of all that ran", () => {
    expect(wattsPerCore({ watts: 30, busy_cores: 2 }, 1)).toBe(15);
  });

  it("never gives the target more than there is: ticks may say less than its exact time", () => {
    expect(wattsPerCore({ watts: 30, busy_cores: 0.97 }, 1)).toBe(30);
  });

  it("does not know of a machine where nothing is known to have run", () => {
    expect(wattsPerCore({ watts: 30, busy_cores: 0 }, 0)).toBeNaN();
    expect(wattsPerCore({ watts: Number.NaN, busy_cores: 1 }, 0)).toBeNaN();
    expect(wattsPerCore({ watts: 30, busy_cores: Number.NaN }, 1)).toBeNaN();
  });
});

/** Two threads that use 0.6 and 0.2 cores of a machine with 1.6 busy cores at 40 W. */
function input(energy: Target["energy"], counters?: (t_s: number) => Partial<MachineCounters>) {
  const model = new TargetModel();
  for (let i = 0; i <= 6; i++) {
    const t_s = i / 2;
    const row = (tid: number, cores: number) => ({
      tid,
      start_s: 0,
      name: `t${tid}`,
      counters: Object.fromEntries(
        FIELDS.map((field) => [field, field === "cpu_run_ns" ? 1e9 * cores * t_s : 0]),
      ),
    });
    const machine = counters?.(t_s) ?? {};
    model.ingest(
      frame({ seq: i + 1, t_s, machine: { time_ns: 1e9 * t_s, ...machine } }, [
        row(10, 0.6),
        row(11, 0.2),
      ]),
    );
  }
  const view: ViewInput = {
    model,
    target: { ...TARGET, energy },
    request: DEFAULT_REQUEST,
    filter: filterFrom(""),
    span: { t0_s: 0, t1_s: 3 },
    now_s: model.now_s,
  };
  return { view, rates: movingRates(model) };
}

const running = (t_s: number) => ({ package_uj: 40e6 * t_s, cpu_busy_us: 1.6e6 * t_s });

describe("powerTile", () => {
  it("shows the machine's power and the process' part, called an estimate", () => {
    const { view, rates } = input(RAPL, running);
    const tile = powerTile(view, rates);
    expect(tile).toMatchObject({ state: "ok", unit: "W", first_label: "machine" });
    expect(tile.value).toBeCloseTo(40, 9);
    expect(tile.second?.label).toBe("process, est.");
    expect(tile.second?.value).toBeCloseTo(20, 6);
    expect(tile.note).toContain("an estimate, not a measurement");
    expect(tile.spark).toHaveLength(60);
    expect(tile.spark[30]).toBeCloseTo(40, 4);
  });

  it("says why there is none", () => {
    const none = { domains: [], reason: "there is no RAPL in /sys/class/powercap" };
    const { view, rates } = input(none);
    expect(powerTile(view, rates)).toMatchObject({
      state: "absent",
      reason: "No energy counter: there is no RAPL in /sys/class/powercap.",
    });
    const psys = { ...RAPL, domains: RAPL.domains.map((one) => ({ ...one, summed: false })) };
    expect(powerTile(input(psys, running).view, rates).state).toBe("absent");
    expect(powerTile({ ...view, target: null }, rates).reason).toContain("not known yet");
  });

  it("does not show a power of 0 when the counter cannot be read, nor before it moved", () => {
    const failed = input(RAPL, () => ({ package_uj: null, cpu_busy_us: 0 }));
    expect(powerTile(failed.view, failed.rates)).toMatchObject({
      state: "absent",
      reason: "The energy counter cannot be read at the moment.",
    });
    const first = input(RAPL, () => ({ time_ns: 0, package_uj: 0, cpu_busy_us: 0 }));
    expect(powerTile(first.view, first.rates).state).toBe("waiting");
  });
});

describe("estimates in the table", () => {
  it("are in proportion to CPU", () => {
    const { view, rates } = input(RAPL, running);
    const table = tableView(view, rates, DEFAULT_TABLE);
    const cpu = table.fields.indexOf("cpu_run_ns");
    const watts = table.rows.map((row) => (table.watts_per_core * (row.rates[cpu] ?? 0)) / 1e9);
    expect(watts[0]).toBeCloseTo(15, 6);
    expect(watts[1]).toBeCloseTo(5, 6);
  });

  it("are not there without energy", () => {
    const { view, rates } = input({ domains: [], reason: "none" });
    expect(tableView(view, rates, DEFAULT_TABLE).watts_per_core).toBeNaN();
  });
});
