/** Preview of a role correction's effect. Pure. */

import type { ThreadNames } from "../../stream/namesView";
import { fits, roleOf } from "../../stream/role";
import type { RoleRule } from "../../wire/generated/models";

/** A role, and the number of its affected threads. */
interface RolePart {
  readonly role: string;
  readonly threads: number;
}

export interface RolePreview {
  /** Number of threads with matching names, and these names. */
  readonly threads: number;
  readonly names: readonly string[];
  /** Roles that threads leave; most threads first. */
  readonly from: readonly RolePart[];
  /** Number of other threads with the target role: both become one role. */
  readonly joined: number;
}

/**
 * Effect of a rule inserted before all others.
 * @param rules Current rules.
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

/** Existing roles, by name. */
export function rolesOf(
  names: readonly ThreadNames[],
  rules: readonly RoleRule[],
): readonly string[] {
  return [...new Set(names.map(({ name }) => roleOf(name, rules)))].sort();
}

/** Initial correction: all threads of a role. */
export function ruleFor(role: string, own: readonly RoleRule[]): RoleRule {
  const known = own.find((rule) => rule.role === role);
  return known ?? { pattern: role.replace(/#/g, "*"), role };
}

/** Prepend a rule; replaces a rule with the same pattern. */
export function withRule(own: readonly RoleRule[], rule: RoleRule): readonly RoleRule[] {
  return [rule, ...own.filter(({ pattern }) => pattern !== rule.pattern)];
}

/** Rules as command-line options of the collector. */
export function roleOptions(own: readonly RoleRule[]): string {
  return own.map(({ pattern, role }) => `--role ${quoted(`${pattern}=${role}`)}`).join(" ");
}

function quoted(text: string): string {
  return `'${text.replace(/'/g, "'\\''")}'`;
}

function countOf(names: readonly ThreadNames[]): number {
  return names.reduce((sum, { threads }) => sum + threads, 0);
}
