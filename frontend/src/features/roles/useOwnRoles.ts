import { useEffect } from "react";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { programOf } from "../../stream/targetName";
import type { RoleRule, Target } from "../../wire/generated/models";
import { ownRoles, rulesOf } from "./ownRoles";

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
