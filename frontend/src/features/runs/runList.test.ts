import { describe, expect, it } from "vitest";
import { summary } from "../../testing/runs";
import { failureText, filterRuns, NEWEST_FIRST, sortRuns } from "./runList";

const A = summary({
  id: "r-20261121-130000-00000a",
  name: "alpha",
  started_unix_us: 1,
  tags: ["slow"],
});
const B = summary({
  id: "r-20261121-130000-00000b",
  name: "Beta",
  started_unix_us: 3,
  group: "night",
});
const C = summary({
  id: "r-20261121-130000-00000c",
  name: "gamma",
  started_unix_us: 2,
  command: "sort -u",
});
const GROUP = summary({
  id: "r-20261121-130000-00000d",
  name: "delta",
  command: null,
  target_group: {
    kind: "unit",
    value: "postgresql.service",
    name: "postgresql.service",
    cgroup: "/system.slice/postgresql.service",
    discovery: "ebpf",
    discovery_reason: "",
  },
});
const names = (runs: readonly { name: string }[]) => runs.map(({ name }) => name);

describe("filterRuns", () => {
  it.each([
    ["", ["alpha", "Beta", "gamma", "delta"]],
    ["SLOW", ["alpha"]],
    ["night beta", ["Beta"]],
    ["sort -u", ["gamma"]],
    ["slow beta", []],
    ["postgresql", ["delta"]],
    ["systemd unit", ["delta"]],
  ])("%j", (text, found) => {
    expect(names(filterRuns([A, B, C, GROUP], text))).toEqual(found);
  });
});

describe("failureText", () => {
  it.each([
    [{ exit_code: 3 }, "exit 3"],
    [{ signal: "SIGKILL" }, "SIGKILL"],
    [{ exit_code: 0 }, null],
    [{}, null],
  ])("%j: %s", (outcome, text) => {
    expect(failureText(summary(outcome))).toBe(text);
  });
});

describe("sortRuns", () => {
  it("sorts a group by its own name, not by that of its first process", () => {
    const order = { by: "process", descending: false } as const;
    const other = summary({ name: "other", process: "qemu" });
    expect(names(sortRuns([other, { ...GROUP, process: "zsh" }], order))).toEqual([
      "delta",
      "other",
    ]);
  });

  it("has the newest first unless asked for another order", () => {
    expect(names(sortRuns([A, B, C], NEWEST_FIRST))).toEqual(["Beta", "gamma", "alpha"]);
    expect(names(sortRuns([C, B, A], { by: "name", descending: false }))).toEqual([
      "alpha",
      "Beta",
      "gamma",
    ]);
    expect(names(sortRuns([C, A, B], { by: "duration", descending: false }))).toEqual([
      "Beta",
      "gamma",
      "alpha",
    ]);
  });
});
