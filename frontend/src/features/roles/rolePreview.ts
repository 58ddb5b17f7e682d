/** What a correction of roles would change, before it is made. Pure. */

import type { ThreadNames } from "../../stream/namesView";
import { fits, roleOf } from "../../stream/role";
import type { RoleRule } from "../../wire/generated/models";

/** A role, and how many threads of it are meant. */
interface RolePart {
  readonly role: string;
  readonly threads: number;
}

export interface RolePreview {
  /** Threads whose names fit, and these names. */
  readonly threads: number;
  readonly names: readonly string[];
  /** Roles that they leave; most threads first. */
  readonly from: readonly RolePart[];
  /** Other threads that have the role already: they become one role. */
  readonly joined: number;
}

/**
 * What a rule that comes before all others would do.
 * @param rules Those that hold now.
 */
export function previewRole(
  names: readonly ThreadNames[],
  { pattern, role }: RoleRule,
  rules: readonly RoleRule[],
): RolePreview {
  const matched = pattern === "" ? [] : names.filter(({ name }) => fits(pattern, name));
  const own = new Set(matched);
  const from = new Map<string, number>();
  for (const { name, threads } of matched) {
    const before = roleOf(name, rules);
    if (before !== role) from.set(before, (from.get(before) ?? 0) + threads);
  }
  return {
    threads: countOf(matched),
    names: matched.map(({ name }) => name),
    from: Array.from(from, ([name, threads]) => ({ role: name, threads })).sort(
      (a, b) => b.threads - a.threads,
    ),
    joined: countOf(names.filter((each) => !own.has(each) && roleOf(each.name, rules) === role)),
  };
}

/** Roles that there are, by their names. */
export function rolesOf(
  names: readonly ThreadNames[],
  rules: readonly RoleRule[],
): readonly string[] {
  return [...new Set(names.map(({ name }) => roleOf(name, rules)))].sort();
}

/** The correction to begin with: all threads that have a role now. */
export function ruleFor(role: string, own: readonly RoleRule[]): RoleRule {
  const known = own.find((rule) => rule.role === role);
  return known ?? { pattern: role.replace(/#/g, "*"), role };
}

/** Rules with one more, before all others; one of the same pattern makes way for it. */
export function withRule(own: readonly RoleRule[], rule: RoleRule): readonly RoleRule[] {
  return [rule, ...own.filter(({ pattern }) => pattern !== rule.pattern)];
}

/** The same on the command line, as the collector takes it. */
export function roleOptions(own: readonly RoleRule[]): string {
  return own.map(({ pattern, role }) => `--role ${quoted(`${pattern}=${role}`)}`).join(" ");
}

function quoted(text: string): string {
  return `'${text.replace(/'/g, "'\\''")}'`;
}

function countOf(names: readonly ThreadNames[]): number {
  return names.reduce((sum, { threads }) => sum + threads, 0);
}
