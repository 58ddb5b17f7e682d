import { useCallback } from "react";
import { hasBackend } from "../../base/source";
import { useSelected, useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { KEEP } from "../../stream/role";
import type { TargetView } from "../../stream/targetView";
import { isOneThread, type ThreadKey } from "../../stream/viewRequest";
import type { RoleRule } from "../../wire/generated/models";
import { type StackScope, type StackSource, type StackWindow, stacksHref } from "./link";

/** Stacks that a link selects: a part of those in the visible window. */
export interface LinkedStacks extends Partial<Omit<StackScope, "window">> {
  /** Thread or role; null for all. */
  readonly key?: ThreadKey | null;
  readonly name?: string;
  /** A span in seconds since attach; the visible window by default. */
  readonly span?: { readonly t0_s: number; readonly t1_s: number };
}

const attachedOf = (view: TargetView | null) => view?.target?.attached_unix_us ?? 0;
const ledgerOf = (view: TargetView | null) => view?.target?.source.ledger ?? false;

/** Makes the address of a flame graph; null for what the backend cannot select. */
export type StackLinker = (what: LinkedStacks) => string | null;

/**
 * Return the function that makes addresses of flame graphs of the watched target or run. Without a
 * ledger stacks have no exact time, and there is no address.
 */
export function useStackLink(): StackLinker {
  const client = useLiveClient();
  const id = useStore(client.followed);
  const { window, paused, role_rules } = useStore(client.view);
  const attached_ms = useSelected(client.target, attachedOf) / 1000;
  const ledger = useSelected(client.target, ledgerOf);
  const run = client.extent !== null;
  return useCallback(
    ({ name = "", span, key = null, ...scope }: LinkedStacks) => {
      const threads = scopeOfKey(key, role_rules);
      if (id === null || !ledger || attached_ms === 0 || threads === null || !hasBackend()) {
        return null;
      }
      const source: StackSource = { kind: run ? "run" : "target", id };
      const at = (t_s: number) => attached_ms + 1000 * t_s;
      const visible = window.kind === "fixed" ? window : paused ? client.target.get() : null;
      const shown = span ?? visible;
      const chosen: StackWindow =
        shown !== null
          ? { kind: "fixed", from_ms: at(shown.t0_s), to_ms: at(shown.t1_s) }
          : { kind: "last", seconds: window.kind === "last" ? window.seconds : 0 };
      return stacksHref({ ...threads, ...scope, name, source, window: chosen });
    },
    [client, id, run, ledger, window, paused, role_rules, attached_ms],
  );
}

/**
 * Threads that a key selects: a thread, a role, or all for none. Null for what the backend does not
 * know: a process of a group, and a role by a rule of this page.
 */
export function scopeOfKey(
  key: ThreadKey | null,
  rules: readonly RoleRule[] = [],
): Pick<StackScope, "tids" | "roles"> | null {
  if (key === null) return { tids: [], roles: [] };
  if (isOneThread(key)) return { tids: [Number.parseInt(key, 10)], roles: [] };
  if (!key.startsWith("role:")) return null;
  const role = key.slice("role:".length);
  return rules.some((rule) => rule.role === role || rule.role === KEEP)
    ? null
    : { tids: [], roles: [role] };
}
