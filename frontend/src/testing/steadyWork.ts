/** The rows of a program with constant thread activity, like tests/e2e/fixtures/steady_work.c. */

import type { Counters, Row } from "./frames";

/** Activity of a thread per second. */
interface Work {
  readonly name: string;
  readonly perSecond: Counters;
}

const IDLE: Counters = {
  cpu_run_ns: 0,
  cpu_delay_ns: 0,
  voluntary_switches: 0,
  involuntary_switches: 0,
  disk_read_bytes: 0,
  disk_write_bytes: 0,
  minor_faults: 0,
};

function named(name: string, count: number, perSecond: Counters): Work[] {
  return Array.from({ length: count }, (_, k) => ({ name: `${name}-${k + 1}`, perSecond }));
}

const THREADS: readonly Work[] = [
  { name: "steady_work", perSecond: {} },
  { name: "burner", perSecond: { cpu_run_ns: 5e8, cpu_delay_ns: 1e8, voluntary_switches: 100 } },
  { name: "writer", perSecond: { cpu_run_ns: 1e7, disk_write_bytes: 1.25 * 2 ** 20 } },
  ...named("worker", 6, { cpu_run_ns: 2e7, involuntary_switches: 10 }),
  ...named("sleeper", 4, { voluntary_switches: 1 }),
];

/** Rows at an instant. Thread IDs count from 1; attach is one second after the process started. */
export function steadyWork(t_s: number, key = false): Row[] {
  return THREADS.map(({ name, perSecond }, place) => {
    const rates = { ...IDLE, ...perSecond };
    const counters = Object.fromEntries(
      Object.entries(rates).map(([field, rate]) => [field, Math.round(rate * (1 + t_s))]),
    );
    const tid = place + 1;
    return key ? { tid, start_s: -1, name, counters } : { tid, counters };
  });
}
