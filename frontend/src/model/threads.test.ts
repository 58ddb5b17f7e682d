import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { roleOf } from "./threads";

/** Shared with the collector's rule (tests/contract/test_roles.py). */
const CASES = JSON.parse(
  readFileSync(new URL("../../../tests/contract/roles.json", import.meta.url), "utf8"),
) as [name: string, role: string][];

describe("roleOf", () => {
  it.each(CASES)("%j is a %j", (name, role) => {
    expect(roleOf(name)).toBe(role);
  });
});
