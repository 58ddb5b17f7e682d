import { describe, expect, it } from "vitest";
import type { ComparedMetric, FigureDifference, GroupFigure } from "../../wire/generated/models";
import { type Judged, leadOf } from "./LeadPanel";

const figure = (mean: number): GroupFigure => ({
  ...{ values: [mean], n: 3, mean, std_dev: 0, low: mean, high: mean },
});

/** A figure that changed between two means, with an interval around the difference. */
function row(
  metric: string,
  unit: string,
  [was, is]: readonly [number, number],
  half: number,
  changes: Partial<ComparedMetric> & { readonly verdict?: FigureDifference["verdict"] } = {},
): ComparedMetric {
  const absolute = is - was;
  const { verdict, ...rest } = changes;
  const clear = Math.abs(absolute) > half;
  const difference: FigureDifference = {
    ...{ absolute, low: absolute - half, high: absolute + half, method: "welch", caveat: null },
    percent: was === 0 ? null : (100 * absolute) / was,
    verdict: verdict ?? (clear ? (absolute > 0 ? "more" : "less") : "unclear"),
  };
  return {
    ...{ metric, label: metric, unit, role: null, provenance: "exact", better: "neither" },
    groups: [figure(was), figure(is)],
    differences: [difference],
    ...rest,
  };
}

const comparison = (metrics: ComparedMetric[], runs = 3): Judged => ({
  metrics,
  groups: ["static", "adaptive"].map((label, k) => ({
    label,
    runs: Array.from({ length: runs }, (_, i) => `r-${k}${i}`),
  })),
});

describe("what a comparison leads with", () => {
  it("is results first, then time blocked, by the end of the interval that is nearer to 0", () => {
    const { differences, none } = leadOf(
      comparison([
        row("ops_per_s", "1/s", [100, 130], 5, { label: "Throughput", verdict: "better" }),
        row("result:p99", "", [0.05, 0.04], 0.001, { label: "p99", verdict: "less" }),
        // Larger mean, but less certain.
        row("disk_write_bytes", "bytes/s", [1e6, 1.6e6], 5e5),
        row("net_read_bytes", "bytes/s", [1e6, 1.5e6], 6e5),
        row("cpu_delay_ns", "ns/s", [1e9, 2e9], 1e8),
      ]),
    );
    expect(none).toBe("");
    expect(differences.map(({ metric }) => metric)).toEqual([
      "ops_per_s",
      "result:p99",
      "cpu_delay_ns",
    ]);
    expect(differences[0]).toMatchObject({
      text: "Throughput is higher by 30.0 % in adaptive, which is better: 130 /s, against 100 /s in static.",
      evidence: "95 % confidence interval of the difference: +25.0 % to +35.0 %.",
      group: 1,
      role: null,
    });
  });

  it("calls a program that does much more better, whatever it uses for it", () => {
    const { differences } = leadOf(
      comparison([
        row("major_faults", "count/s", [10, 4000], 20),
        row("cpu_delay_ns", "ns/s", [1e8, 9e8], 1e8),
        row("share_locks", "share", [0.75, 0.07], 0.02, { label: "Share of time: locks" }),
        row("share_state_futex", "share", [0.75, 0.07], 0.02),
        row("share_disk", "share", [0.04, 0.68], 0.03, { label: "Share of time: disk" }),
        row("share_state_poll", "share", [0.01, 0.9], 0.02),
        row("ops_per_s", "1/s", [1000, 9400], 100, { label: "Throughput", verdict: "better" }),
        row("disk_write_bytes", "bytes/s", [1e6, 9e6], 1e5),
      ]),
    );
    expect(differences.map(({ text, evidence }) => `${text} ${evidence}`)).toEqual([
      "Throughput is 9.4 × in adaptive, which is better: 9.40 k/s, against 1.00 k/s in static. 95 % confidence interval of the difference: 9.3 × to 9.5 ×.",
      "Share of time: locks is lower by 68.0 points in adaptive: 7.00 %, against 75.0 % in static. 95 % confidence interval of the difference: −70.0 points to −66.0 points.",
      "Share of time: disk is higher by 64.0 points in adaptive: 68.0 %, against 4.00 % in static. 95 % confidence interval of the difference: +61.0 points to +67.0 points.",
    ]);
  });

  it("says a thing once, and where it is", () => {
    const { differences } = leadOf(
      comparison([
        row("mean_cores", "cores", [1, 2], 0.1),
        row("cpu_run_ns", "ns/s", [1e9, 2e9], 1e8),
        row("mean_cores", "cores", [0.2, 1.1], 0.1, { role: "worker-#" }),
        row("voluntary_switches", "count/s", [100, 900], 20, { role: "logger" }),
      ]),
    );
    expect(differences.map(({ text }) => text)).toEqual([
      "voluntary_switches of logger is 9.0 × in adaptive: 900 /s, against 100 /s in static.",
      "mean_cores is 2.0 × in adaptive: 2.00 cores, against 1.00 cores in static, mostly in worker-#.",
    ]);
  });

  it("leaves out what does not matter, and what has no verdict", () => {
    const { differences, none } = leadOf(
      comparison([
        row("share_locks", "share", [0.001, 0.004], 0.001),
        row("ops_per_s", "1/s", [100, 130], 5, { verdict: "unclear" }),
        row("disk_write_bytes", "bytes/s", [1e6, 1.1e6], 5e5),
      ]),
    );
    expect(differences).toEqual([]);
    expect(none).toContain("all intervals include 0");
  });

  it("says what is lacking", () => {
    const one = row("ops_per_s", "1/s", [100, 130], 5);
    const [difference] = one.differences;
    const without = difference && { ...difference, low: null, high: null, method: "none" as const };
    const single = { ...one, differences: without ? [without] : [] };
    expect(leadOf(comparison([single], 1))).toEqual({
      differences: [],
      none: "No difference is certain: static and adaptive have one run each. Add repeats to a group to get intervals.",
    });
  });

  it("has what was nothing before", () => {
    const { differences } = leadOf(comparison([row("disk_read_bytes", "bytes/s", [0, 1e6], 1e5)]));
    expect(differences[0]?.text).toBe(
      "disk_read_bytes is higher in adaptive: 977 KiB/s, against 0 B/s in static.",
    );
  });
});
