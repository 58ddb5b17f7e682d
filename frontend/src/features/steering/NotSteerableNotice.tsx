import { knobName, signalName } from "../../stream/steerText";
import { Notice } from "../../ui/Notice";
import type { SteeringOptions } from "../../wire/generated/models";
import styles from "./SteerPanel.module.css";

interface NotSteerableNoticeProps {
  readonly options: SteeringOptions;
  readonly obstacle: "knob" | "signal";
}

/** Why the program cannot be steered, and what to do about it. */
export function NotSteerableNotice({ options, obstacle }: NotSteerableNoticeProps) {
  const title =
    obstacle === "knob"
      ? "Cannot steer this program: no knob to set its size"
      : "Cannot steer this program: no signal to measure its throughput";
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
        To make it steerable, link an agent into the program (one line in Go, Python, Java or Rust):
        it reports operations and sets the size. See <code>docs/steering.md</code>. Then restart the
        program and attach to it again.
      </p>
    </Notice>
  );
}
