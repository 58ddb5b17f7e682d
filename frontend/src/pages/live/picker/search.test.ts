import { describe, expect, it } from "vitest";
import type { Process } from "../../../wire/generated/models";
import { byCpu, matchesSearch } from "./search";

const process = (more: Partial<Process>): Process => ({
  pid: 4321,
  start_ticks: 1,
  started_unix_ms: 0,
  name: "caddy",
  command: "/usr/bin/caddy run --config /etc/Caddyfile",
  executable: null,
  uid: 33,
  user: "www-data",
  threads: 9,
  cpu_percent: 1,
  rss_bytes: null,
  runtime: "go",
  runtime_version: "go1.26",
  ports: [80, 2019],
  refusal: null,
  ...more,
});

describe("matchesSearch", () => {
  it.each([
    ["", true],
    ["  ", true],
    ["CADDY", true],
    ["caddyfile", true],
    ["432", true],
    ["321", false],
    [":80", true],
    [":8", false],
    ["2019", true],
    ["www-data", true],
    ["www-dat", false],
    ["caddy run", true],
    ["caddy nginx", false],
  ])("%j: %s", (typed, expected) => {
    expect(matchesSearch(process({}), typed)).toBe(expected);
  });
});

describe("byCpu", () => {
  it("puts the busiest first; a null is no CPU, then threads, then pid", () => {
    const list = [
      process({ pid: 1, cpu_percent: null, threads: 1 }),
      process({ pid: 2, cpu_percent: 0, threads: 5 }),
      process({ pid: 3, cpu_percent: 150 }),
      process({ pid: 0, cpu_percent: 0, threads: 1 }),
    ];
    expect(list.sort(byCpu).map(({ pid }) => pid)).toEqual([3, 2, 0, 1]);
  });
});
