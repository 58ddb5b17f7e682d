import type { FormEvent } from "react";
import { counted } from "../../stream/format";
import { knobName, signalName } from "../../stream/steerView";
import { Button, Select } from "../../ui/Controls";
import type {
  KnobKind,
  Process,
  SignalKind,
  Steering,
  SteeringOptions,
} from "../../wire/generated/models";
import { boundFields, type CounterText, counterOf, type Edits, wrongNumber } from "./draft";
import { NumberField } from "./ParameterForm";
import styles from "./SteerPanel.module.css";

interface ControlSetupFormProps {
  readonly options: SteeringOptions;
  readonly ports: Process["ports"];
  readonly steering: Steering | null;
  readonly edits: Edits;
  readonly locked: boolean;
  /** `now`: apply at once if a policy steers. */
  readonly onChange: (edits: Edits, now: boolean) => void;
}

/** Choice of knob, signal, bounds, and shadow mode. */
export function ControlSetupForm(props: ControlSetupFormProps) {
  const { options, ports, steering, edits, locked, onChange } = props;
  const knob = edits.knob ?? steering?.knob;
  const signal = edits.signal ?? steering?.signal;
  const turned = options.knobs.find(({ kind, refusal }) =>
    knob === undefined ? refusal === "" : kind === knob,
  );
  const allowed = { lower: turned?.lower ?? null, upper: turned?.upper ?? null };
  const { lower, upper } = boundFields(steering, edits, allowed);
  const shadow = edits.shadow ?? steering?.shadow ?? false;
  const wrong = lower.wrong !== "" || upper.wrong !== "";
  const changed = edits.lower !== undefined || edits.upper !== undefined;
  const counting = signal === "prometheus" && steering?.signal !== "prometheus";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!wrong && !locked) {
      onChange(edits, true);
    }
  };
  const pickSignal = (kind: SignalKind) =>
    // A counter must be named first.
    onChange(
      { ...edits, signal: kind },
      kind !== "prometheus" || counterOf(edits.counter) !== null,
    );
  return (
    <form className={styles.section} aria-label="Knob and signal" onSubmit={submit}>
      <h3>Knob and signal</h3>
      <div className={styles.selects}>
        <Select
          label="Knob"
          value={knob ?? ""}
          disabled={locked}
          choices={[
            ...(steering === null ? [{ value: "" as const, label: "best available" }] : []),
            ...options.knobs.map(({ kind, refusal }) => ({
              value: kind,
              label: knobName(kind),
              disabled: refusal !== "",
            })),
          ]}
          onChange={(kind: KnobKind | "") =>
            kind === ""
              ? onChange(without(edits, "knob"), false)
              : onChange({ ...edits, knob: kind }, true)
          }
        />
        <Select
          label="Signal"
          value={signal ?? ""}
          disabled={locked}
          choices={[
            ...(steering === null ? [{ value: "" as const, label: "best available" }] : []),
            ...options.signals.map(({ kind, refusal, proxy }) => ({
              value: kind,
              label: proxy ? `${signalName(kind)} (proxy signal)` : signalName(kind),
              disabled: refusal !== "",
            })),
          ]}
          onChange={(kind: SignalKind | "") =>
            kind === "" ? onChange(without(edits, "signal"), false) : pickSignal(kind)
          }
        />
      </div>
      {counting ? (
        <CounterFields
          ports={ports}
          text={edits.counter}
          locked={locked}
          steers={steering !== null}
          onChange={(counter) => onChange({ ...edits, counter }, false)}
          onApply={() => onChange(edits, true)}
        />
      ) : null}
      <Refusals options={options} />
      <div className={styles.fields}>
        <NumberField
          label="Lower bound"
          unit=""
          help={turned?.lower == null ? "" : `Knob minimum: ${turned.lower}.`}
          placeholder={String(turned?.lower ?? "")}
          field={lower}
          disabled={locked}
          onChange={(text) => onChange({ ...edits, lower: text }, false)}
        />
        <NumberField
          label="Upper bound"
          unit=""
          help={turned?.upper == null ? "" : `Knob maximum: ${turned.upper}.`}
          placeholder={String(turned?.upper ?? "")}
          field={upper}
          disabled={locked}
          onChange={(text) => onChange({ ...edits, upper: text }, false)}
        />
      </div>
      {steering === null ? null : (
        <div className={styles.buttons}>
          <Button type="submit" disabled={locked || wrong || !changed}>
            Apply bounds
          </Button>
        </div>
      )}
      <label className={styles.switch}>
        <input
          type="checkbox"
          role="switch"
          checked={shadow}
          aria-checked={shadow}
          disabled={locked}
          onChange={(event) => onChange({ ...edits, shadow: event.target.checked }, true)}
        />
        <span className={styles.about}>
          Shadow mode
          <small>The policy decides and gives its reasons, but changes nothing.</small>
        </span>
      </label>
    </form>
  );
}

/** Why other choices are unavailable. */
function Refusals({ options }: { readonly options: SteeringOptions }) {
  const refused = [
    ...options.knobs.map(({ kind, refusal }) => [knobName(kind), refusal] as const),
    ...options.signals.map(({ kind, refusal }) => [signalName(kind), refusal] as const),
  ].filter(([, refusal]) => refusal !== "");
  return refused.length === 0 ? null : (
    <details className={styles.details}>
      <summary>{counted(refused.length, "unavailable option")}</summary>
      <dl className={styles.refusals}>
        {refused.map(([name, refusal]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{refusal}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}

function without(edits: Edits, name: "knob" | "signal"): Edits {
  const { [name]: _, ...rest } = edits;
  return rest;
}

interface CounterFieldsProps {
  readonly ports: Process["ports"];
  readonly text: CounterText | undefined;
  readonly locked: boolean;
  /** A policy steers already: a button applies the counter. */
  readonly steers: boolean;
  readonly onChange: (text: CounterText) => void;
  readonly onApply: () => void;
}

/** Choice of a counter in the program's own metrics. */
function CounterFields(props: CounterFieldsProps) {
  const { ports, text, locked, steers, onChange, onApply } = props;
  const own: CounterText = text ?? { port: String(ports[0] ?? ""), path: "/metrics", metric: "" };
  const entry = (part: keyof CounterText, label: string, help: string, wrong = "") => (
    <NumberField
      label={label}
      unit=""
      help={help}
      field={{ text: own[part], wrong }}
      disabled={locked}
      onChange={(value) => onChange({ ...own, [part]: value })}
    />
  );
  const port = own.port === "" ? "" : wrongNumber(own.port, 1, 65535, true);
  return (
    <fieldset className={styles.counter}>
      <legend>Counter</legend>
      <div className={styles.fields}>
        {entry("port", "Port", "Port of the program's metrics endpoint, on loopback.", port)}
        {entry("path", "Path", "Such as /metrics.")}
        {entry("metric", "Metric", "Samples with this name are summed.")}
      </div>
      {steers ? (
        <Button disabled={locked || counterOf(own) === null} onClick={onApply}>
          Use this counter
        </Button>
      ) : null}
    </fieldset>
  );
}
