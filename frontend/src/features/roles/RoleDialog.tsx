/**
 * Feature `roles`: a role to correct in, the user's role rules of the program out. It must not
 * apply rules to threads: the worker does. Preview of a role correction's effect. Pure.
 */

import { type FormEvent, useEffect, useId, useMemo, useRef, useState } from "react";
import { toast } from "../../base/toasts";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import type { ThreadNames } from "../../stream/factViews";
import { counted } from "../../stream/format";
import { fits, roleOf, sameRules } from "../../stream/role";
import { programOf } from "../../stream/targetName";
import { Button, CommandLine } from "../../ui/Controls";
import { Dialog } from "../../ui/Overlays";
import { MAX_OWN_ROLE_RULES } from "../../wire/generated/limits";
import type { RoleRule, Target } from "../../wire/generated/models";
import { keepRules, useRulesOf } from "./ownRoles";
import styles from "./RoleDialog.module.css";

/** A role, and the number of its affected threads. */
interface RolePart {
  readonly role: string;
  readonly threads: number;
}

interface RolePreview {
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

/** Maximum length, equal to the rule's limit. */
const LONGEST = 256;
/** Maximum number of names in the preview. */
const SHOWN = 12;
const NONE: readonly RoleRule[] = [];

interface RoleDialogProps {
  readonly target: Target;
  /** Current name of the role to correct. */
  readonly role: string;
  readonly onClose: () => void;
}

/** Rename a role, or merge it with others: affected threads, new name, and effect. */
export function RoleDialog({ target, role, onClose }: RoleDialogProps) {
  const client = useLiveClient();
  useEffect(() => client.mountFacts("names"), [client]);
  const view = useStore(client.facts.names);
  const own = useRulesOf(target);
  const program = programOf(target);
  const [draft, setDraft] = useState(() => ruleFor(role, own));
  const known = useId();
  const called = useRef<HTMLInputElement>(null);
  useEffect(() => {
    called.current?.focus();
    called.current?.select();
  }, []);
  const given = target.role_rules ?? NONE;
  const rules = useMemo(() => [...own, ...given], [own, given]);
  const preview = useMemo(
    () => (view === null ? null : previewRole(view.names, draft, rules)),
    [view, draft, rules],
  );
  const roles = useMemo(() => rolesOf(view?.names ?? [], rules), [view, rules]);

  const apply = (event: FormEvent) => {
    event.preventDefault();
    const rule = { pattern: draft.pattern, role: draft.role.trim() };
    change(
      program,
      own,
      withRule(own, rule),
      `Threads named ${rule.pattern} are ${rule.role} now.`,
    );
    onClose();
  };
  const remove = (rule: RoleRule) =>
    change(
      program,
      own,
      own.filter((each) => each !== rule),
      `Threads named ${rule.pattern} have their former role again.`,
    );
  const full =
    own.length >= MAX_OWN_ROLE_RULES && !own.some((each) => each.pattern === draft.pattern);
  return (
    <Dialog title="Rename or merge a role" onClose={onClose}>
      <form className={styles.form} onSubmit={apply}>
        <label className={styles.field}>
          Threads named (* stands for any characters, ? for one)
          <input
            className="text-field"
            value={draft.pattern}
            maxLength={LONGEST}
            required
            spellCheck={false}
            onChange={(event) => setDraft({ ...draft, pattern: event.target.value })}
          />
        </label>
        <label className={styles.field}>
          Role; the name of another one merges them
          <input
            className="text-field"
            value={draft.role}
            maxLength={LONGEST}
            required
            spellCheck={false}
            ref={called}
            list={known}
            onChange={(event) => setDraft({ ...draft, role: event.target.value })}
          />
          <datalist id={known}>
            {roles.map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
        </label>
        <p className={styles.preview} role="status">
          {preview === null ? "Looking at the threads…" : previewText(preview, draft)}
        </p>
        {preview === null || preview.names.length === 0 ? null : (
          <ul className={styles.names} aria-label="Names of these threads">
            {preview.names.slice(0, SHOWN).map((name) => (
              <li key={name}>{name}</li>
            ))}
            {preview.names.length > SHOWN ? (
              <li className={styles.more}>{preview.names.length - SHOWN} more names</li>
            ) : null}
          </ul>
        )}
        {full ? <p role="alert">There is room for {MAX_OWN_ROLE_RULES} corrections.</p> : null}
        <div className={styles.buttons}>
          <Button
            type="submit"
            variant="primary"
            disabled={full || draft.pattern === "" || draft.role.trim() === ""}
          >
            Apply
          </Button>
          <Button onClick={onClose}>Cancel</Button>
        </div>
      </form>
      {own.length === 0 ? null : (
        <Corrections program={program} own={own} target={target} onRemove={remove} />
      )}
    </Dialog>
  );
}

interface CorrectionsProps {
  readonly program: string;
  readonly own: readonly RoleRule[];
  readonly target: Target;
  readonly onRemove: (rule: RoleRule) => void;
}

/** Existing corrections, and how to apply them elsewhere. */
function Corrections({ program, own, target, onRemove }: CorrectionsProps) {
  const counted_by = sameRules(own, (target.role_rules ?? NONE).slice(0, own.length));
  return (
    <section className={styles.corrections} aria-label={`Your roles of ${program}`}>
      <h3>Your roles of {program}</h3>
      <ul>
        {own.map((rule) => (
          <li key={rule.pattern}>
            <code>{rule.pattern}</code> is <strong>{rule.role}</strong>
            <Button
              variant="quiet"
              aria-label={`Remove ${rule.pattern}`}
              onClick={() => onRemove(rule)}
            >
              Remove
            </Button>
          </li>
        ))}
      </ul>
      <p className={styles.note}>
        {counted_by
          ? "The collector counts by these roles: new runs, comparisons and metrics have them."
          : `Kept in this browser for every ${program}, on this page and in runs. The collector counts by them once you attach again; a recorded command needs:`}
      </p>
      {counted_by ? null : (
        <CommandLine
          command={`tidscope record ${roleOptions(own)} -- COMMAND`}
          what="command with your roles"
        />
      )}
    </section>
  );
}

function change(
  program: string,
  before: readonly RoleRule[],
  after: readonly RoleRule[],
  text: string,
): void {
  keepRules(program, after);
  toast(text, { label: "Undo", run: () => keepRules(program, before) });
}

function previewText({ threads, from, joined }: RolePreview, { role }: RoleRule): string {
  if (threads === 0) {
    return "No thread has such a name.";
  }
  const parts = [`${counted(threads, "thread")}.`];
  if (from.length > 0) {
    const left = from.map((part) => `${part.role} (${part.threads})`).join(", ");
    parts.push(`Role until now: ${left}.`);
  } else if (role !== "*") {
    parts.push("That is their role already.");
  }
  if (joined > 0) {
    parts.push(`Merged with ${counted(joined, "thread")} that have this role.`);
  }
  if (role === "*") {
    parts.push("Each name is a role of its own.");
  }
  return parts.join(" ");
}
