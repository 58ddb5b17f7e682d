import { type FormEvent, useId } from "react";
import { Button, Select } from "../../ui/Controls";
import type { PolicyInfo, Steering } from "../../wire/generated/models";
import {
  type Edits,
  type Field,
  isDefault,
  parameterField,
  parameterHelp,
  toDefaults,
  wrongParameters,
} from "./draft";
import styles from "./SteerPanel.module.css";

interface NumberFieldProps {
  readonly label: string;
  readonly unit: string;
  /** Explanation, and bounds. */
  readonly help: string;
  readonly field: Field;
  readonly placeholder?: string;
  readonly disabled: boolean;
  readonly onChange: (text: string) => void;
}

/** A number field with unit, explanation, and error. */
export function NumberField({
  label,
  unit,
  help,
  field,
  placeholder = "",
  disabled,
  onChange,
}: NumberFieldProps) {
  const id = useId();
  return (
    <div className={styles.field}>
      <label htmlFor={id} className={styles.label}>
        {label}
      </label>
      <span className={styles.entry}>
        <input
          id={id}
          className={`text-field ${styles.input}`}
          inputMode="decimal"
          autoComplete="off"
          value={field.text}
          placeholder={placeholder}
          disabled={disabled}
          aria-invalid={field.wrong !== ""}
          aria-describedby={`${id}-help`}
          onChange={(event) => onChange(event.target.value)}
        />
        <span className={styles.unit}>{unit}</span>
      </span>
      <span id={`${id}-help`} className={field.wrong === "" ? styles.help : styles.wrong}>
        {field.wrong === "" ? help : `${field.wrong} ${help}`}
      </span>
    </div>
  );
}

interface ParameterFormProps {
  readonly policies: readonly PolicyInfo[];
  /** Policy whose parameters are shown. */
  readonly policy: PolicyInfo;
  readonly steering: Steering | null;
  readonly edits: Edits;
  readonly locked: boolean;
  /** Whether the fields differ from the current parameters. */
  readonly changed: boolean;
  readonly onChoose: (policy: string) => void;
  readonly onEdit: (edits: Edits) => void;
  readonly onApply: () => void;
}

/** The parameters of a policy, active or not. */
export function ParameterForm(props: ParameterFormProps) {
  const { policies, policy, steering, edits, locked, changed, onChoose, onEdit, onApply } = props;
  const steers = steering?.policy === policy.name;
  const wrong = wrongParameters(policy, steering, edits).length > 0;
  const blocked = locked || wrong || (steers && !changed);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!blocked) {
      onApply();
    }
  };
  const edit = (name: string, text: string) =>
    onEdit({
      ...edits,
      parameters: {
        ...edits.parameters,
        [policy.name]: { ...edits.parameters[policy.name], [name]: text },
      },
    });
  return (
    <details className={styles.section}>
      <summary>
        <h3>Parameters, for experts</h3>
      </summary>
      <form className={styles.form} aria-label="Parameters" onSubmit={submit} noValidate>
        <header className={styles.sectionHead}>
          <Select
            label="of"
            value={policy.name}
            choices={policies.map(({ name }) => ({ value: name, label: name }))}
            onChange={onChoose}
          />
        </header>
        <p className={styles.meaning}>
          {policy.meaning} <small>{policy.source}</small>
        </p>
        {policy.parameters.length === 0 ? (
          <p className={styles.meaning}>No parameters.</p>
        ) : (
          <div className={styles.fields}>
            {policy.parameters.map((each) => (
              <NumberField
                key={`${policy.name} ${each.name}`}
                label={each.name}
                unit={each.unit}
                help={parameterHelp(each)}
                field={parameterField(each, policy.name, steering, edits)}
                disabled={locked}
                onChange={(text) => edit(each.name, text)}
              />
            ))}
          </div>
        )}
        {policy.parameters.length === 0 ? null : (
          <div className={styles.buttons}>
            <Button type="submit" disabled={blocked}>
              {steers ? "Apply" : `Steer with ${policy.name}`}
            </Button>
            <Button
              variant="quiet"
              disabled={locked || isDefault(policy, steering, edits)}
              onClick={() => onEdit(toDefaults(policy, edits))}
            >
              Reset to defaults
            </Button>
          </div>
        )}
      </form>
    </details>
  );
}
