import { describe, expect, it } from "vitest";
import {
  apiQuery,
  type CompareLink,
  compareHref,
  corrected,
  EMPTY_LINK,
  linkOf,
  parseLink,
  regrouped,
  withBaseline,
  without,
  withRun,
} from "./link";

const [A, B, C] = ["a", "b", "c"].map((last) => `r-20261121-130000-00000${last}`) as [
  string,
  string,
  string,
];
const LINK: CompareLink = {
  groups: [[A], [B, C]],
  align: "mark",
  mark: "load + start",
  match: [{ run: B, role: "io:x=1", label: "worker-#" }],
  basis: "totals",
  metric: "cpu_delay_ns",
  role: "worker-#",
  layout: "each",
  kind: "total",
  filter: "disk & net",
  rows: "roles",
  order: "size",
};
const reread = (link: CompareLink) => parseLink(compareHref(link).replace("/compare?", ""));

describe("the address", () => {
  it("holds all of the view", () => {
    expect(reread(LINK)).toEqual(LINK);
    expect(reread({ ...EMPTY_LINK, groups: [[A], [B]] })).toEqual({
      ...EMPTY_LINK,
      groups: [[A], [B]],
    });
  });

  it("is short where all is as by default", () => {
    expect(compareHref({ ...EMPTY_LINK, groups: [[A], [B, C]] })).toBe(
      `/compare?runs=${A},${B}+${C}`,
    );
  });

  it("is read with the plus escaped, too", () => {
    expect(parseLink(`runs=${A}%2C${B}%2B${C}`).groups).toEqual([[A], [B, C]]);
  });

  it("leaves out what makes no sense, and runs named twice", () => {
    expect(parseLink(`runs=${A},x,${A}+${B},&align=end&match=x:y=z&order=up&basis=sums`)).toEqual({
      ...EMPTY_LINK,
      groups: [[A], [B]],
    });
  });
});

it("asks the backend for what it knows", () => {
  const asked = new URLSearchParams(apiQuery(LINK));
  expect([...asked]).toEqual([
    ["runs", `${A},${B}+${C}`],
    ["basis", "totals"],
    ["align", "mark"],
    ["mark", "load + start"],
    ["match", `${B}:io:x=1=worker-#`],
  ]);
  expect(apiQuery({ ...LINK, align: "start", match: [], basis: "rates" })).toBe(
    `runs=${A}%2C${B}%2B${C}`,
  );
});

it("asks for roles by process, and keeps that in the address", () => {
  const split: CompareLink = { ...EMPTY_LINK, groups: [[A], [B]], rows: "split" };
  expect(new URLSearchParams(apiQuery(split)).get("split")).toBe("process");
  expect(compareHref(split)).toBe(`/compare?runs=${A},${B}&rows=split`);
  expect(reread(split)).toEqual(split);
  const match = [
    { run: A, role: "io-#", label: "x" },
    { run: A, role: "make → io-#", label: "y" },
  ];
  const asked = (rows: CompareLink["rows"]) =>
    new URLSearchParams(apiQuery({ ...split, match, rows })).getAll("match");
  expect(asked("split")).toEqual([`${A}:make → io-#=y`]);
  expect(asked("roles")).toEqual([`${A}:io-#=x`]);
  expect(reread({ ...split, match })).toEqual({ ...split, match });
});

describe("groups", () => {
  it("take runs from one another", () => {
    expect(regrouped(LINK, A, 1).groups).toEqual([[B, C, A]]);
    expect(regrouped(LINK, B, null).groups).toEqual([[A], [C], [B]]);
    expect(regrouped(LINK, B, 0).groups).toEqual([[A, B], [C]]);
  });

  it("change places with the baseline", () => {
    expect(withBaseline(LINK, 1).groups).toEqual([[B, C], [A]]);
    expect(withBaseline(LINK, 7)).toBe(LINK);
  });

  it("lose a run with what was said of it, and get another", () => {
    expect(without(LINK, B)).toMatchObject({ groups: [[A], [C]], match: [] });
    expect(withRun(LINK, A)).toBe(LINK);
    expect(withRun({ ...LINK, groups: [[A]] }, C).groups).toEqual([[A], [C]]);
  });
});

it("takes runs of one group as repeats", () => {
  const runs = [
    { id: A, group: "night" },
    { id: B, group: null },
    { id: C, group: "night" },
  ];
  expect(linkOf(runs)).toEqual({ ...EMPTY_LINK, groups: [[A, C], [B]] });
});

it("corrects a role, and takes that back", () => {
  const next = corrected(LINK, B, "io:x=1", "other");
  expect(next.match).toEqual([{ run: B, role: "io:x=1", label: "other" }]);
  expect(corrected(next, B, "io:x=1", "").match).toEqual([]);
});
