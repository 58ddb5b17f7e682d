import { knobName, signalName } from "../../../model/steerText";
import { Notice } from "../../../ui/Notice";
import type { SteeringOptions } from "../../../wire/generated/models";
import styles from "./SteerPanel.module.css";

interface NotSteerableNoticeProps {
  readonly options: SteeringOptions;
  readonly obstacle: "knob" | "signal";
}

/** Why the program cannot be steered, and what to do about it. */
export function NotSteerableNotice({ options, obstacle }: NotSteerableNoticeProps) {
  const title =
    obstacle === "knob"
      ? "This program cannot be steered yet: there is no way to change its size"
      : "This program cannot be steered yet: nothing tells how much it gets done";
  const refusals =
    obstacle === "knob"
      ? options.knobs.map(({ kind, refusal }) => [knobName(kind), refusal] as const)
      : options.signals.map(({ kind, refusal }) => [signalName(kind), refusal] as const);
  return (
    <Notice status="warning" title={title}>
      <dl className={styles.refusals} data-unsteerable={obstacle}>
        {refusals.map(([name, refusal]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{refusal}</dd>
          </div>
        ))}
      </dl>
      <p>
        What helps in any case: link an agent into the program, one line in Go, Python or Java. It
        tells the operations and changes the size; <code>docs/steering.md</code> shows how. Then
        start the program anew and attach to it.
      </p>
    </Notice>
  );
}
