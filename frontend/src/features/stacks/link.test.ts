import { describe, expect, it } from "vitest";
import {
  differenceQuery,
  differenceSides,
  graphQuery,
  isFirst,
  PLAIN_LINK,
  parseStacksLink,
  type StacksLink,
  type StackWindow,
  spanBefore,
  spanOf,
  stacksHref,
} from "./link";

const TARGET = { kind: "target", id: "t-4711-0123abcd" } as const;
const RUN = { kind: "run", id: "r-20261121-130500-1f2e3d" } as const;
const reread = (link: StacksLink) => parseStacksLink(stacksHref(link).split("?")[1] ?? "");

describe("the address", () => {
  it("keeps a whole view", () => {
    const link: StacksLink = {
      ...PLAIN_LINK,
      source: TARGET,
      window: { kind: "fixed", from_ms: 1_700_000_000_123.5, to_ms: 1_700_000_001_000 },
      tids: [4712, 4713],
      roles: ["worker-#", "a b&c"],
      states: ["futex", "on_cpu"],
      lock: 3,
      name: "heap #3",
      against: { kind: "role", role: "reader" },
      beside: "holders",
      zoom: { threads: ["main", "f;g"], releasers: ["x"], holders: [] },
      search: "lock",
      upwards: true,
      foldRecursion: true,
      hideKernel: true,
    };
    expect(reread(link)).toEqual(link);
  });

  it("leaves defaults out", () => {
    expect(stacksHref({ source: RUN })).toBe(`/stacks?run=${RUN.id}`);
    expect(reread({ ...PLAIN_LINK, source: RUN })).toEqual({ ...PLAIN_LINK, source: RUN });
  });

  it("follows a live target if no time is named", () => {
    const link = parseStacksLink(`target=${TARGET.id}`);
    expect(link?.window).toEqual({ kind: "last", seconds: 60 });
    expect(parseStacksLink(`target=${TARGET.id}&last=1e9`)?.window).toEqual({
      kind: "last",
      seconds: 600,
    });
  });

  it.each(["", "target=4711", "run=r-1", "target=t-1-x/../y"])("refuses %j", (query) => {
    expect(parseStacksLink(query)).toBeNull();
  });

  it("ignores parts that are not valid", () => {
    const link = parseStacksLink(`target=${TARGET.id}&tid=x&tid=-1&state=A%20b&lock=0&from=5&to=4`);
    expect(link).toMatchObject({ tids: [], states: [], lock: null });
    expect(link?.window.kind).toBe("last");
  });
});

const CLOCK = { zero_ms: 1_700_000_000_000, first_ns: 2e9, newest_ns: 100e9 };

describe("queries", () => {
  it("turn windows into the source's times, within what it knows", () => {
    const closed = { open: false };
    expect(spanOf({ kind: "all" }, CLOCK)).toEqual({ from_ns: 2e9, to_ns: 100e9, ...closed });
    const last = spanOf({ kind: "last", seconds: 60 }, CLOCK);
    expect(last).toEqual({ from_ns: 40e9, to_ns: 100e9, open: true });
    expect(spanOf({ kind: "last", seconds: 600 }, CLOCK).from_ns).toBe(2e9);
    const fixed = { kind: "fixed", from_ms: 1_700_000_010_000, to_ms: 1_700_000_200_000 } as const;
    expect(spanOf(fixed, CLOCK)).toEqual({ from_ns: 10e9, to_ns: 100e9, ...closed });
    const outside = {
      kind: "fixed",
      from_ms: 1_600_000_000_000,
      to_ms: 1_600_000_001_000,
    } as const;
    expect(spanOf(outside, CLOCK)).toEqual({ from_ns: 2e9, to_ns: 2e9 + 1, ...closed });
  });

  it("ask for a selection and a side", () => {
    const scope = { ...PLAIN_LINK, tids: [1, 2], states: ["futex"] };
    const span = { from_ns: 1, to_ns: 2, open: false };
    expect(graphQuery(scope, span, "threads")).toBe("from_ns=1&to_ns=2&tid=1&tid=2&state=futex");
    const lock = { ...scope, lock: 7 };
    expect(graphQuery(lock, { ...span, open: true }, "holders")).toBe(
      "last_ns=1&tid=1&tid=2&lock=7&side=holders",
    );
  });

  it("compare with the same length before, as far as known", () => {
    const span = { from_ns: 40e9, to_ns: 60e9, open: true };
    expect(spanBefore(span, CLOCK)).toEqual({ from_ns: 20e9, to_ns: 40e9, open: false });
    expect(spanBefore({ ...span, from_ns: 10e9 }, CLOCK).from_ns).toBe(2e9);
  });

  it("compare two windows or two roles", () => {
    const link: StacksLink = {
      ...PLAIN_LINK,
      source: TARGET,
      window: { kind: "last", seconds: 10 },
      roles: ["worker-#"],
      against: { kind: "before" },
    };
    expect(differenceQuery(...differenceSides(link, CLOCK))).toBe(
      `before=target%3A${TARGET.id}&before_from_ns=80000000000&before_to_ns=90000000000` +
        "&before_role=worker-%23" +
        `&after=target%3A${TARGET.id}&after_from_ns=90000000000` +
        "&after_role=worker-%23",
    );
    // Attached shortly before: both halves of what is known.
    const spans = differenceSides({ ...link, window: { kind: "last", seconds: 60 } }, CLOCK);
    expect(spans.map(({ span }) => [span.from_ns, span.to_ns])).toEqual([
      [2e9, 51e9],
      [51e9, 100e9],
    ]);
    const begin: StackWindow = {
      kind: "fixed",
      from_ms: CLOCK.zero_ms + 2000,
      to_ms: CLOCK.zero_ms + 3000,
    };
    expect(isFirst(begin, CLOCK)).toBe(true);
    expect(isFirst(link.window, CLOCK)).toBe(false);
    const roles = differenceSides({ ...link, against: { kind: "role", role: "reader" } }, CLOCK);
    expect(roles.map(({ scope, span }) => [scope.roles, span.from_ns])).toEqual([
      [["reader"], 90e9],
      [["worker-#"], 90e9],
    ]);
  });
});
