/** IDs inside and outside namespaces, in words. */

import { expect, it } from "vitest";
import type { Process } from "../../wire/generated/models";
import { pidInside, userInside, userShown } from "./inside";

const of = (more: Partial<Process>) =>
  ({ uid: 999, user: "999", namespace_pid: null, ...more }) as Process;

it("says nothing of ids that are the same inside", () => {
  expect(pidInside(of({}))).toBeNull();
  expect(userInside(of({}))).toBe("uid 999");
  expect(userInside(of({ uid: 0, user: "root" }))).toBe("root, uid 0");
});

it("says which ids a process sees itself", () => {
  expect(pidInside(of({ namespace_pid: 1 }))).toBe("pid 1 in its own PID namespace");
  expect(userInside(of({ namespace_user: "postgres" }))).toBe(
    "uid 999; in its own namespaces postgres, uid 999",
  );
  expect(userShown(of({ namespace_user: "postgres" }))).toBe("999 (postgres)");
  expect(userShown(of({}))).toBe("999");
  expect(userInside(of({ uid: 100_000, user: "anna", namespace_uid: 0 }))).toBe(
    "anna, uid 100000; in its own namespaces uid 0",
  );
});
