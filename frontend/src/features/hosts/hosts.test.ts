import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { FleetAcross, FleetHost, FleetHosts } from "../../wire/generated/models";
import { bandPath, linePath, topOf } from "./bands";
import { type Searched, searchOf } from "./hostSearch";
import { acrossQuery, EMPTY_HOSTS, hostsHref, parseHostsLink, windowQuery } from "./link";
import { median, outliers, outlierText, signedRate, unusualHosts } from "./unusual";
import { gridHeight, gridOf, inView, moved, tileAt, tilesOf } from "./wall";

interface Cases {
  hosts: (Searched & { name: string })[];
  cases: { search: string; found: string[] }[];
}
const CASES: Cases = JSON.parse(
  readFileSync(new URL("../../../../tests/contract/host_search.json", import.meta.url), "utf8"),
);

function host(
  at: number,
  states: readonly number[],
  labels: Record<string, string> = {},
): FleetHost {
  return {
    host: `h-${at}`,
    name: `db-${at}`,
    labels,
    connected: false,
    targets: [],
    threads: states.reduce((sum, one) => sum + one, 0),
    states: [...states],
    cores: [null, states[0] ?? 0],
    roles: [0],
  };
}

const fleet = (hosts: FleetHost[]): FleetHosts => ({
  from_us: 0,
  to_us: 20e6,
  step_us: 1e7,
  kept: true,
  note: null,
  hosts,
  roles: [{ program: "server", role: "worker-#", hosts: hosts.length }],
});

const TYPICAL = [1, 0.1, 2, 4, 0.9];
const MANY = fleet([
  ...Array.from({ length: 20 }, (_, at) => host(at, TYPICAL, { zone: at % 2 === 0 ? "a" : "b" })),
  host(20, [1, 3, 1, 2, 1], { zone: "b" }),
  host(21, []),
]);

describe("search", () => {
  it.each(CASES.cases)("finds what the backend finds: '$search'", ({ search, found }) => {
    const names = CASES.hosts.filter(searchOf(search)).map(({ name }) => name);
    expect(names).toEqual(found);
  });
});

it("writes a rate with its sign, however small", () => {
  expect(signedRate("cpu_run_ns", -456e6)).toBe("−0.456 cores");
  expect(signedRate("cpu_run_ns", -1e5)).toBe(">−0.001 cores");
  expect(signedRate("cpu_run_ns", 1e5)).toBe("<0.001 cores");
});

describe("what is unusual", () => {
  it("is far from the median in usual spreads, and says why", () => {
    const found = unusualHosts(MANY.hosts);
    expect(found[20]?.why).toBe("waiting for a CPU 38 % of its threads' time, the median host 1 %");
    expect(found.filter(({ why }) => why !== "")).toHaveLength(1);
    expect(found[21]).toEqual({ score: 0, why: "" });
  });

  it("is nothing among three hosts", () => {
    expect(unusualHosts(MANY.hosts.slice(18, 21)).every(({ why }) => why === "")).toBe(true);
  });

  it("is said of a counter as a multiple of the median", () => {
    const values = [400e6, ...Array.from({ length: 9 }, (_, at) => 98e6 + at * 5e5)];
    const across: FleetAcross = {
      ...{ from_us: 0, to_us: 1, step_us: 1, note: null, p10: [], median: [], p90: [], curves: [] },
      ...{ counter: "cpu_delay_ns", label: "Run-queue delay", unit: "ns/s" },
      hosts: values.map((value, at) => ({
        ...{ host: `h-${at}`, name: `db-${17 + at}`, labels: {}, value, threads: 4 },
      })),
    };
    const [odd, ...others] = outliers(across);
    expect(others).toEqual([]);
    expect(odd && outlierText(across, odd)).toBe("waits 4 × as long for a CPU on db-17 (40.0 %).");
    const none = {
      ...across,
      hosts: across.hosts.map((one, at) => (at === 0 ? one : { ...one, value: 0 })),
    };
    expect(outliers(none)).toHaveLength(1);
    const [far] = outliers(none);
    expect(far && outlierText(none, far)).toContain("the median host has none");
  });

  it("has a median of an even number", () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBe(0);
  });
});

describe("the wall", () => {
  it("shows the most unusual host first, then those that use CPUs, then silent ones", () => {
    const { tiles, group } = tilesOf(MANY, "", null);
    expect(group).toBe("");
    expect(tiles[0]?.name).toBe("db-20");
    expect(tiles.at(-1)?.name).toBe("db-21");
  });

  it("groups by a label, and many hosts by themselves", () => {
    const { tiles } = tilesOf(MANY, "", "zone");
    expect(tiles.map(({ name, hosts }) => [name, hosts.length])).toEqual([
      ["b", 11],
      ["a", 10],
      ["without zone", 1],
    ]);
    expect(tiles[0]?.why).toContain("1 unusual; db-20");
    const hosts = Array.from({ length: 501 }, (_, at) => host(at, TYPICAL));
    expect(tilesOf(fleet(hosts), "", null)).toMatchObject({ found: 501, group: "host" });
    expect(tilesOf(fleet(hosts), "host=db-1*", null).tiles).toHaveLength(111);
    expect(tilesOf(fleet(hosts), "", "").tiles).toHaveLength(501);
  });

  it("places tiles in a grid", () => {
    const grid = gridOf(10_000, 960);
    expect(grid.columns).toBe(20);
    expect(gridHeight(grid, 10_000)).toBe(13_000);
    expect(tileAt(grid, 10_000, 50, 30)).toBe(21);
    expect(tileAt(grid, 10_000, -1, 0)).toBeNull();
    expect(tileAt(grid, 5, 400, 0)).toBeNull();
    expect(inView(grid, 10_000, 2600, 640)).toEqual({ first: 2000, last: 2500 });
    expect(gridOf(3, 300)).toMatchObject({ columns: 1, named: true });
  });

  it("moves with the arrow keys", () => {
    const grid = gridOf(10_000, 960);
    expect(moved(null, "ArrowDown", grid, 10_000)).toBe(0);
    expect(moved(0, "ArrowDown", grid, 10_000)).toBe(20);
    expect(moved(5, "ArrowUp", grid, 10_000)).toBe(5);
    expect(moved(5, "ArrowLeft", grid, 10_000)).toBe(4);
    expect(moved(5, "End", grid, 10_000)).toBe(9999);
    expect(moved(5, "a", grid, 10_000)).toBeNull();
    expect(moved(null, "End", grid, 0)).toBeNull();
  });
});

describe("the address", () => {
  it("holds the state", () => {
    const link = {
      ...EMPTY_HOSTS,
      ...({ view: "compare", search: "zone=a -x", group: "", role: "", program: "p q" } as const),
      ...{
        since_ms: 1000,
        until_ms: 61_000,
        counter: "cpu_run_ns",
        first: "a",
        other: "canary=true",
      },
    };
    expect(parseHostsLink(hostsHref(link).replace("/hosts?", ""))).toEqual(link);
    expect(hostsHref(EMPTY_HOSTS)).toBe("/hosts");
    expect(acrossQuery(link, 0)).toBe(
      "since_ms=1000&until_ms=61000&program=p+q&role=&counter=cpu_run_ns",
    );
  });

  it("ignores what is invalid", () => {
    expect(parseHostsLink("view=x&last=0&since=5&until=5&counter=a;b")).toEqual(EMPTY_HOSTS);
    expect(parseHostsLink("since=0&until=99999999999")).toEqual(EMPTY_HOSTS);
  });

  it("asks for a window that ends now, in steps that pages share", () => {
    expect(windowQuery(EMPTY_HOSTS, 5).toString()).toBe("");
    expect(windowQuery({ ...EMPTY_HOSTS, last_min: 60 }, 5_000_001).toString()).toBe(
      "since_ms=1410000&until_ms=5010000",
    );
  });
});

describe("bands", () => {
  const x = (at: number) => at;
  const y = (value: number) => -value;

  it("have gaps where nothing is known", () => {
    expect(bandPath([1, 1, null, 2], [2, 3, null, 4], x, y)).toBe(
      "M0.0 -2.0L1.0 -3.0L1.0 -1.0L0.0 -1.0ZM3.0 -4.0L3.0 -2.0Z",
    );
    expect(linePath([1, null, 2, 3], x, y)).toBe("M0.0 -1.0M2.0 -2.0L3.0 -3.0");
    expect(topOf([[1, null], [5]])).toBe(5);
    expect(topOf([])).toBe(0);
  });
});
