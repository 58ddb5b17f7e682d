import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { roleOf } from "./role";

/** Shared with the collector's rule (tests/contract/test_shared_cases.py). */
function shared(name: string): unknown {
  return JSON.parse(
    readFileSync(new URL(`../../../tests/contract/${name}`, import.meta.url), "utf8"),
  );
}

describe("roleOf", () => {
  it.each(shared("roles.json") as [string, string][])("%j is a %j", (name, role) => {
    expect(roleOf(name)).toBe(role);
  });

  it.each(shared("role_rules.json") as [[string, string][], string, string][])(
    "by %j %j is a %j",
    (rules, name, role) => {
      const given = rules.map(([pattern, to]) => ({ pattern, role: to }));
      expect(roleOf(name, given)).toBe(role);
    },
  );
});
