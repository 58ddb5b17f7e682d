import { expect, it } from "vitest";
import { process } from "../../testing/backend";
import type { CpuAllowance, SizedProgram } from "../../wire/generated/models";
import { auditText, sizeChecks } from "./sizeChecks";

const FREE: CpuAllowance = {
  cpus: 8,
  limit_cores: null,
  limit_group: null,
  weight: null,
  request_cores: null,
  periods: null,
  throttled: null,
};

function program(changes: Partial<SizedProgram>): SizedProgram {
  return {
    process: process({ pid: 7 }),
    allowance: FREE,
    ...{ pool: "GOMAXPROCS", kind: "gomaxprocs", size: 8, source: "memory" },
    chosen: "runtime",
    verdict: "fits",
    why: "GOMAXPROCS is 8, as it may use.",
    change: null,
    ...changes,
  };
}

const LARGE = program({
  verdict: "too-large",
  why: "GOMAXPROCS is 8, but its control group has 2 cores.",
  change: "GOMAXPROCS=2",
  allowance: { ...FREE, limit_cores: 2, limit_group: "/a", periods: 200, throttled: 75 },
});

it("counts pools that are set wrong", () => {
  const audit = (...programs: SizedProgram[]) => auditText({ programs, omitted: 0 });
  expect(audit()).toBe("No Go program, Java virtual machine or program with an agent runs here.");
  expect(audit(program({}))).toBe("Of 1 pool nothing is known to be set wrong.");
  expect(audit(LARGE, program({}))).toBe("1 of 2 pools set wrong.");
  expect(auditText({ programs: [LARGE], omitted: 3 })).toContain("3 more were not looked at.");
});

it("shows what is wrong with its evidence and the line to change", () => {
  const [check, ...more] = sizeChecks({ programs: [LARGE, program({})], omitted: 0 });
  expect(more).toEqual([]);
  expect(check?.status).toBe("limited");
  expect(check?.title).toMatch(/^GOMAXPROCS of /);
  expect(check?.finding).toContain("CPUs of its affinity: 8; CPU limit: 2 cores (/a).");
  expect(check?.impact).toMatch(/^throttled in 37\.5\s?% of the limit's periods so far$/);
  expect(check?.fix).toBe("GOMAXPROCS=2");
});

it("shows programs of which nothing is known", () => {
  const unknown = program({ verdict: "unknown", size: null, why: "It cannot be read." });
  const [check] = sizeChecks({ programs: [unknown], omitted: 0 });
  expect([check?.known, check?.fix, check?.impact]).toEqual([false, "", ""]);
  // Misconfigured programs come first.
  const names = sizeChecks({ programs: [unknown, LARGE], omitted: 0 }).map(({ known }) => known);
  expect(names).toEqual([true, false]);
});
