/** A person's own roles, for each program by its name, kept in this browser. */

import { useEffect } from "react";
import { createStore } from "../../base/store";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { programOf } from "../../stream/targetName";
import { MAX_OWN_ROLE_RULES } from "../../wire/generated/limits";
import type { RoleRule, Target } from "../../wire/generated/models";

const KEY = "tidscope.roles";
/** Programs whose roles are kept; the one that was corrected longest ago goes first. */
const MAX_PROGRAMS = 50;
const NONE: readonly RoleRule[] = [];

type OwnRoles = Readonly<Record<string, readonly RoleRule[]>>;

/** Rules by program, the one that was corrected last at the end. */
export const ownRoles = createStore<OwnRoles>(kept());

/** The rules of a program; the same array until they change. */
export function rulesOf(all: OwnRoles, program: string): readonly RoleRule[] {
  return (Object.hasOwn(all, program) ? all[program] : undefined) ?? NONE;
}

/** Keep other rules for a program. */
export function keepRules(program: string, rules: readonly RoleRule[]): void {
  const others = Object.entries(ownRoles.get()).filter(([name]) => name !== program);
  const own: [string, readonly RoleRule[]][] =
    rules.length > 0 ? [[program, rules.slice(0, MAX_OWN_ROLE_RULES)]] : [];
  const all = Object.fromEntries([...others, ...own].slice(-MAX_PROGRAMS));
  ownRoles.set(all);
  try {
    window.localStorage.setItem(KEY, JSON.stringify(all));
  } catch {
    // No room, or none allowed: they hold until the page is closed.
  }
}

function kept(): OwnRoles {
  try {
    return checked(JSON.parse(window.localStorage.getItem(KEY) ?? "{}"));
  } catch {
    return {};
  }
}

/** What of it are rules: somebody else may have written there. */
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

/** A person's own roles of a target's program. */
export function useRulesOf(target: Target): readonly RoleRule[] {
  return rulesOf(useStore(ownRoles), programOf(target));
}

/** Have all views made by a person's own roles. */
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
