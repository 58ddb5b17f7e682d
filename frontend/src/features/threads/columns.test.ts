import { describe, expect, it } from "vitest";
import {
  cellText,
  columnsOf,
  DEFAULT_COLUMNS,
  explain,
  isSortedBy,
  unitOf,
  whyEmpty,
} from "./columns";

function column(id: string) {
  const found = columnsOf([id])[0];
  if (found === undefined) {
    throw new Error(`no column ${id}`);
  }
  return found;
}

describe("columnsOf", () => {
  it("knows all default columns", () => {
    expect(columnsOf(DEFAULT_COLUMNS)).toHaveLength(DEFAULT_COLUMNS.length);
  });

  it("sorts by catalogue and leaves unknown and process fields out", () => {
    const ids = ["total:cpu_delay_ns", "rate:nonsense", "total:cpu_run_ns", "rate:rss_bytes"];
    expect(columnsOf(ids).map(({ id }) => id)).toEqual(["total:cpu_run_ns", "total:cpu_delay_ns"]);
  });
});

describe("cells", () => {
  it.each([
    ["rate:cpu_run_ns", "cores", 0.5e9, "0.500"],
    ["total:cpu_run_ns", "s total", 12.34e9, "12.3"],
    ["rate:cpu_delay_ns", "of time", 0.25e9, "25.0 %"],
    ["rate:voluntary_switches", "per s", 1234, "1.23 k"],
    ["rate:voluntary_switches", "per s", 12, "12.0"],
    ["total:disk_write_bytes", "total", 8 * 2 ** 20, "8.00 MiB"],
    ["rate:disk_write_bytes", "per s", 2048, "2.00 KiB"],
  ])("%s (%s)", (id, unit, raw, text) => {
    expect(unitOf(column(id))).toBe(unit);
    // The formatter's tests cover the digits; here the unit must be missing.
    expect(cellText(column(id), raw)).toBe(text);
  });

  it("shows no number where there is none", () => {
    expect(cellText(column("rate:cpu_run_ns"), Number.NaN)).toBe("–");
  });
});

describe("whyEmpty", () => {
  const rate = column("rate:blkio_delay_ns");

  it("says nothing of a value", () => {
    expect(whyEmpty(rate, 0, 0, new Map())).toBeNull();
  });

  it("tells absent from this target, absent from this thread and not yet apart", () => {
    const absent = new Map([["blkio_delay_ns", "procfs does not give it"]]);
    expect(whyEmpty(rate, Number.NaN, Number.NaN, absent)).toBe("procfs does not give it");
    expect(whyEmpty(rate, Number.NaN, Number.NaN, new Map())).toContain("task_delayacct");
    expect(whyEmpty(rate, Number.NaN, 5, new Map())).toContain("Not enough data yet");
  });
});

describe("explain", () => {
  it("gives the provenance of the source in effect", () => {
    const { field } = column("total:read_syscalls");
    expect(explain(field, "taskstats")).toContain("1024");
    expect(explain(field, "procfs")).toBe("Read system calls. Exact.");
    expect(explain(column("rate:cpu_run_ns").field, "taskstats")).toContain("Exact.");
    expect(explain(column("rate:user_cpu_us").field, "taskstats")).toContain("ticks");
  });
});

it("knows the column it is sorted by", () => {
  expect(isSortedBy({ by: "rate", field: "cpu_run_ns" }, column("rate:cpu_run_ns"))).toBe(true);
  expect(isSortedBy({ by: "total", field: "cpu_run_ns" }, column("rate:cpu_run_ns"))).toBe(false);
  expect(isSortedBy({ by: "tid" }, column("rate:cpu_run_ns"))).toBe(false);
});
