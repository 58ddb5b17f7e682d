import { useState } from "react";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { counted } from "../../stream/format";
import { knobName, signalName } from "../../stream/steerView";
import { Button, Checkbox, Select } from "../../ui/Controls";
import { Notice, ProblemNotice } from "../../ui/Notices";
import type { ProgramOptions, Steering } from "../../wire/generated/models";
import { CoresSection } from "./CoreDivisions";
import { DecisionLog } from "./DecisionLog";
import type { Field } from "./draft";
import styles from "./GroupSteerPanel.module.css";
import {
  ARBITER,
  alike,
  bestKnob,
  bestSignal,
  type ClaimFields,
  type GroupEdits,
  groupRequest,
  isChecked,
  NO_GROUP_EDITS,
  type ProgramEdits,
  programBounds,
  programClaim,
  ranked,
} from "./groupDraft";
import { NumberField } from "./ParameterForm";
import type { GroupSteerState, Pending } from "./useSteering";

/** Default policy for several programs. */
const DEFAULT_POLICY = "cooperative";

/** Content of the drawer for a group: its programs, and one policy for the checked ones. */
export function GroupSteerPanel({ state }: { readonly state: GroupSteerState }) {
  const steer = useStore(useLiveClient().steer);
  const { target, policies, options, role, pending, problem } = state;
  const [edits, setEdits] = useState<GroupEdits>(NO_GROUP_EDITS);
  const [chosen, setChosen] = useState<string | null>(null);
  const steered = target.programs ?? [];
  const ended = target.state !== "attached";
  const locked = role === "viewer" || ended;
  const { able, others } = ranked(options?.programs ?? []);
  const checked = able.filter((program) => isChecked(program, steered, edits));
  const policy = chosen ?? steered[0]?.steering.policy ?? DEFAULT_POLICY;
  const now = {
    join: target.programs_join ?? false,
    shadow: steered[0]?.steering.shadow ?? false,
  };
  const wrong = checked.some((program) => {
    const claim = policy === ARBITER ? Object.values(programClaim(program, edits)) : [];
    return [...Object.values(programBounds(program, edits)), ...claim].some(
      (field) => field.wrong !== "",
    );
  });
  const blocked = locked || wrong || checked.length === 0;
  const press = () => {
    if (blocked) return;
    const count = counted(checked.length, "program");
    state.steer(groupRequest(policy, checked, edits, now), `Steering ${count}…`);
    setEdits((before) => ({ ...NO_GROUP_EDITS, programs: before.programs }));
  };
  return (
    <div className={styles.panel}>
      {role === "viewer" ? (
        <Notice status="info" title="Read-only session">
          Open the page with the operator's link to steer.
        </Notice>
      ) : null}
      {ended ? <Notice status="info" title="No longer attached to this group" /> : null}
      {problem === null ? null : <ProblemNotice problem={problem} />}
      <section
        aria-label="Current steering"
        className={styles.section}
        data-steered={steered.length}
      >
        {steered.length === 0 ? (
          <p className={styles.none}>
            Not steered. Check programs and press the button: one policy steers them all.
          </p>
        ) : (
          <>
            <p>
              <b>{counted(steered.length, "program")}</b> steered
              {target.programs_join ? "; new ones join" : ""}.
            </p>
            <div className={styles.buttons}>
              <Button
                disabled={locked}
                aria-busy={pending?.key === "restart"}
                onClick={() => state.restart(null)}
              >
                Restart all searches
              </Button>
              <Button
                disabled={locked}
                aria-busy={pending?.key === "release"}
                onClick={() => state.release(null)}
              >
                Release all
              </Button>
            </div>
          </>
        )}
      </section>
      <CoresSection target={target} />
      <section aria-label="Programs" className={styles.section}>
        <header className={styles.head}>
          <h3>
            Programs <small>{able.length} can be steered</small>
          </h3>
          <Button variant="quiet" disabled={ended} onClick={state.refresh}>
            Look again
          </Button>
        </header>
        {options === null && !ended ? <p className={styles.none}>Examining programs…</p> : null}
        {options !== null && able.length === 0 ? (
          <Notice status="warning" title="None of these programs can be steered">
            Link an agent into a program (one line in Go, Python, Java or Rust): it reports
            operations and sets the size. See <code>docs/steering.md</code>.
          </Notice>
        ) : null}
        <ul className={styles.list}>
          {able.map((program) => (
            <ProgramRow
              key={`${program.pid} ${program.start_ticks}`}
              program={program}
              steering={steered.find(({ pid }) => pid === program.pid)?.steering ?? null}
              checked={checked.includes(program)}
              bounds={programBounds(program, edits)}
              claim={policy === ARBITER ? programClaim(program, edits) : null}
              locked={locked}
              pending={pending}
              onCheck={(on) =>
                setEdits({ ...edits, checked: { ...edits.checked, [program.pid]: on } })
              }
              onEdit={(own) =>
                setEdits({
                  ...edits,
                  programs: {
                    ...edits.programs,
                    [program.pid]: { ...edits.programs[program.pid], ...own },
                  },
                })
              }
              onRestart={() => state.restart(program.pid)}
              onRelease={() => state.release(program.pid)}
            />
          ))}
        </ul>
        {others.length === 0 ? null : (
          <details className={styles.details}>
            <summary>{counted(others.length, "process", "processes")} cannot be steered</summary>
            <dl className={styles.refusals}>
              {alike(others).map(({ name, refusal, pids }) => (
                <div key={pids[0]}>
                  <dt>
                    {name} {pids.length > 1 ? `×${pids.length}` : `(${pids[0]})`}
                  </dt>
                  <dd>{refusal}</dd>
                </div>
              ))}
            </dl>
          </details>
        )}
        {options?.unexamined ? (
          <p className={styles.none}>
            {counted(options.unexamined, "more process", "more processes")} not examined.
          </p>
        ) : null}
      </section>
      {able.length === 0 ? null : (
        <section aria-label="Policy" className={styles.section}>
          <Select
            label="Policy"
            value={policy}
            disabled={locked}
            choices={(policies ?? []).map(({ name }) => ({ value: name, label: name }))}
            onChange={setChosen}
          />
          <Checkbox
            label="New programs of the group join"
            checked={edits.join ?? now.join}
            disabled={locked}
            onChange={(join) => setEdits({ ...edits, join })}
          />
          <Checkbox
            label="Shadow mode: decide, but change nothing"
            checked={edits.shadow ?? now.shadow}
            disabled={locked}
            onChange={(shadow) => setEdits({ ...edits, shadow })}
          />
          {steered.some(({ pid }) => !checked.some((one) => one.pid === pid)) ? (
            <p className={styles.none}>Steered programs that are not checked will be released.</p>
          ) : null}
          <div className={styles.buttons}>
            <Button
              variant="primary"
              disabled={blocked}
              aria-busy={pending?.key === "steer"}
              onClick={press}
            >
              Steer {counted(checked.length, "program")}
            </Button>
          </div>
        </section>
      )}
      {steer === null ? null : <DecisionLog target={target} steer={steer} />}
    </div>
  );
}

interface ProgramRowProps {
  readonly program: ProgramOptions;
  readonly steering: Steering | null;
  readonly checked: boolean;
  readonly bounds: { readonly lower: Field; readonly upper: Field };
  /** Claim on the arbiter; null if another policy is chosen. */
  readonly claim: ClaimFields | null;
  readonly locked: boolean;
  readonly pending: Pending | null;
  readonly onCheck: (on: boolean) => void;
  readonly onEdit: (edits: ProgramEdits) => void;
  readonly onRestart: () => void;
  readonly onRelease: () => void;
}

const CLAIMS = [
  { name: "share", label: "Share", help: "Weight of its throughput.", placeholder: "1" },
  { name: "floor", label: "Floor", help: "Cores that it has at least.", placeholder: "0" },
  { name: "priority", label: "Priority", help: "Higher ones get cores first.", placeholder: "0" },
] as const;

/** A steerable program: its knob and signal, policy, and bounds. */
function ProgramRow(props: ProgramRowProps) {
  const { program, steering, checked, bounds, claim, locked, pending } = props;
  const { pid, name } = program;
  const knob = bestKnob(program);
  const signal = bestSignal(program);
  const turned = steering?.knob ?? knob?.kind;
  const measured = steering?.signal ?? signal?.kind;
  return (
    <li className={styles.program} data-program={pid} data-steered={steering !== null}>
      <div className={styles.head}>
        <Checkbox
          label={`${name} (${pid})`}
          checked={checked}
          disabled={locked}
          onChange={props.onCheck}
        />
        <span className={styles.size} data-size={steering?.size ?? knob?.size ?? ""}>
          {steering?.size ?? knob?.size ?? ""}
        </span>
      </div>
      <p className={styles.about}>
        {turned === undefined ? "" : knobName(turned)}, by{" "}
        {measured === undefined ? "" : signalName(measured)}
      </p>
      {steering === null ? null : (
        <>
          <p className={styles.about}>
            <b>
              {steering.policy}
              {steering.shadow ? " (shadow mode)" : ""}: {steering.state}
            </b>{" "}
            {steering.reason}
          </p>
          {steering.problem === null ? null : (
            <p className={styles.problem} role="alert">
              {steering.problem}
            </p>
          )}
        </>
      )}
      <details className={styles.details}>
        <summary>
          Bounds{claim === null ? "" : ", share"}
          {steering === null ? "" : " and actions"}
        </summary>
        <div className={styles.fields}>
          <NumberField
            label="Lower bound"
            unit=""
            help={knob?.lower == null ? "" : `Knob minimum: ${knob.lower}.`}
            placeholder={String(knob?.lower ?? "")}
            field={bounds.lower}
            disabled={locked}
            onChange={(lower) => props.onEdit({ lower })}
          />
          <NumberField
            label="Upper bound"
            unit=""
            help={knob?.upper == null ? "" : `Knob maximum: ${knob.upper}.`}
            placeholder={String(knob?.upper ?? "")}
            field={bounds.upper}
            disabled={locked}
            onChange={(upper) => props.onEdit({ upper })}
          />
          {claim === null
            ? null
            : CLAIMS.map(({ name, label, help, placeholder }) => (
                <NumberField
                  key={name}
                  label={label}
                  unit=""
                  help={help}
                  placeholder={placeholder}
                  field={claim[name]}
                  disabled={locked}
                  onChange={(text) => props.onEdit({ [name]: text })}
                />
              ))}
        </div>
        {steering === null ? null : (
          <div className={styles.buttons}>
            <Button
              disabled={locked}
              aria-busy={pending?.key === `restart:${pid}`}
              aria-label={`Restart search of ${name} (${pid})`}
              onClick={props.onRestart}
            >
              Restart search
            </Button>
            <Button
              disabled={locked}
              aria-busy={pending?.key === `release:${pid}`}
              aria-label={`Release ${name} (${pid})`}
              onClick={props.onRelease}
            >
              Release (restore size {steering.original})
            </Button>
          </div>
        )}
      </details>
    </li>
  );
}
