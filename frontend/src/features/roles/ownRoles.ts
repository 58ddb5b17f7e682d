/** The user's role rules per program name, stored in this browser. */

import { useEffect } from "react";
import { createStore } from "../../base/store";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { programOf } from "../../stream/targetName";
import { MAX_OWN_ROLE_RULES } from "../../wire/generated/limits";
import type { RoleRule, Target } from "../../wire/generated/models";

const KEY = "tidscope.roles";
/** Maximum number of programs; the least recently corrected is evicted. */
const MAX_PROGRAMS = 50;
const NONE: readonly RoleRule[] = [];

type OwnRoles = Readonly<Record<string, readonly RoleRule[]>>;

/** Rules by program, the most recently corrected last. */
export const ownRoles = createStore<OwnRoles>(kept());

/** The rules of a program; the same array until a change. */
export function rulesOf(all: OwnRoles, program: string): readonly RoleRule[] {
  return (Object.hasOwn(all, program) ? all[program] : undefined) ?? NONE;
}

export function keepRules(program: string, rules: readonly RoleRule[]): void {
  const others = Object.entries(ownRoles.get()).filter(([name]) => name !== program);
  const own: [string, readonly RoleRule[]][] =
    rules.length > 0 ? [[program, rules.slice(0, MAX_OWN_ROLE_RULES)]] : [];
  const all = Object.fromEntries([...others, ...own].slice(-MAX_PROGRAMS));
  ownRoles.set(all);
  try {
    window.localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // Storage is full or forbidden: the rules hold until the page is closed.
  }
}

function kept(): OwnRoles {
  try {
    return checked(JSON.parse(window.localStorage.getItem(KEY) ?? "{}"));
  } catch {
    return {};
  }
}

/** Extract valid rules from stored data, which other code may have written. */
function checked(read: unknown): OwnRoles {
  if (typeof read !== "object" || read === null) return {};
  const programs = Object.entries(read).map(([program, rules]): [string, RoleRule[]] => [
    program,
    Array.isArray(rules) ? rules.filter(isRule) : [],
  ]);
  return Object.fromEntries(programs.filter(([, rules]) => rules.length > 0));
}

function isRule(value: unknown): value is RoleRule {
  if (typeof value !== "object" || value === null) return false;
  const { pattern, role } = value as Partial<Record<keyof RoleRule, unknown>>;
  return [pattern, role].every((text) => typeof text === "string" && text !== "");
}

/** The user's role rules for a target's program. */
export function useRulesOf(target: Target): readonly RoleRule[] {
  return rulesOf(useStore(ownRoles), programOf(target));
}

/** Compute all views by the user's role rules. */
export function useOwnRoles(target: Target | null): void {
  const client = useLiveClient();
  const all = useStore(ownRoles);
  const rules = target === null ? null : rulesOf(all, programOf(target));
  useEffect(() => {
    if (rules !== null) {
      client.request({ role_rules: rules });
    }
  }, [client, rules]);
}
