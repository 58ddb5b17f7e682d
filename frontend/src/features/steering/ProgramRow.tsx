import { knobName, signalName } from "../../stream/steerText";
import { Button } from "../../ui/Button";
import { Checkbox } from "../../ui/Checkbox";
import type { ProgramOptions, Steering } from "../../wire/generated/models";
import type { Field } from "./draft";
import styles from "./GroupSteerPanel.module.css";
import { bestKnob, bestSignal, type ClaimFields, type ProgramEdits } from "./groupDraft";
import { NumberField } from "./NumberField";
import type { Pending } from "./useSteering";

interface ProgramRowProps {
  readonly program: ProgramOptions;
  readonly steering: Steering | null;
  readonly checked: boolean;
  readonly bounds: { readonly lower: Field; readonly upper: Field };
  /** What it asks of the arbiter; null: another policy is chosen. */
  readonly claim: ClaimFields | null;
  readonly locked: boolean;
  readonly pending: Pending | null;
  readonly onCheck: (on: boolean) => void;
  readonly onEdit: (edits: ProgramEdits) => void;
  readonly onRestart: () => void;
  readonly onRelease: () => void;
}

const CLAIMS = [
  { name: "share", label: "Share", help: "Weight of its throughput.", usual: "1" },
  { name: "floor", label: "Floor", help: "Cores that it has at least.", usual: "0" },
  { name: "priority", label: "Priority", help: "Higher ones get cores first.", usual: "0" },
] as const;

/** A program that can be steered: its knob and signal, what steers it, and its own bounds. */
export function ProgramRow(props: ProgramRowProps) {
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
            : CLAIMS.map(({ name, label, help, usual }) => (
                <NumberField
                  key={name}
                  label={label}
                  unit=""
                  help={help}
                  placeholder={usual}
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
