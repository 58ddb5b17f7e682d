import { Button } from "../../ui/Button";
import type { Process } from "../../wire/generated/models";
import { type CounterText, counterOf, wrongNumber } from "./draft";
import { NumberField } from "./NumberField";
import styles from "./SteerPanel.module.css";

interface CounterFieldsProps {
  readonly ports: Process["ports"];
  readonly text: CounterText | undefined;
  readonly locked: boolean;
  /** Something steers already: the counter is applied by a button. */
  readonly steers: boolean;
  readonly onChange: (text: CounterText) => void;
  readonly onApply: () => void;
}

/** Which counter of the program's own metrics to steer on. */
export function CounterFields(props: CounterFieldsProps) {
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
