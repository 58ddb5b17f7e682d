import { describe, expect, it } from "vitest";
import type { Process } from "../../wire/generated/models";
import { matchesSearch } from "./rows";

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
  unit: "web.service",
  container: { id: "abc123", name: "shop", runtime: "docker", pod: null },
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
    ["name:cad* port:80", true],
    ["name:cad", false],
    ["web.service", true],
    ["shop", true],
    ["abc1", true],
  ])("%j: %s", (typed, expected) => {
    expect(matchesSearch(process({}), typed)).toBe(expected);
  });
});
