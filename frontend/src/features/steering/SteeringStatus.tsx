import { signalName, sizeTitle } from "../../stream/steerText";
import { Button } from "../../ui/Button";
import { StatusIcon } from "../../ui/StatusIcon";
import type { Steering } from "../../wire/generated/models";
import styles from "./SteeringStatus.module.css";
import type { Pending } from "./useSteering";

interface SteeringStatusProps {
  readonly steering: Steering | null;
  readonly pending: Pending | null;
  readonly locked: boolean;
  /** A policy could be started. */
  readonly startable: boolean;
  readonly onRestart: () => void;
  readonly onRelease: () => void;
}

/** What steers now, in words, and the two actions on it. */
export function SteeringStatus(props: SteeringStatusProps) {
  const { steering, pending, locked, startable, onRestart, onRelease } = props;
  return (
    <section
      className={styles.force}
      aria-label="Current steering"
      data-steering={steering?.policy ?? ""}
    >
      {steering === null ? (
        <p className={styles.none}>Not steered.{startable ? " Press a policy to start." : ""}</p>
      ) : (
        <>
          <p className={styles.size}>
            <span className={styles.number} data-size={steering.size}>
              {steering.size}
            </span>
            <span className={styles.about}>
              {sizeTitle(steering.knob)}
              <br />
              bounds {steering.lower} to {steering.upper}, originally {steering.original}
            </span>
          </p>
          <div className={styles.words}>
            <p className={styles.state}>
              {steering.policy}
              {steering.shadow ? " (shadow mode)" : ""}:{" "}
              <span data-state-words="">
                {/* The line says already that it only shadows. */}
                {steering.state.replace(/^shadow: /, "")}
              </span>
            </p>
            <p className={styles.reason}>{steering.reason}</p>
            {steering.proxy ? (
              <p className={styles.proxy}>
                <StatusIcon status="warning" /> Proxy signal: {signalName(steering.signal)} instead
                of operations. Lower confidence.
              </p>
            ) : null}
          </div>
          <div className={styles.actions}>
            <Button disabled={locked} aria-busy={pending?.key === "restart"} onClick={onRestart}>
              Restart search
            </Button>
            <Button disabled={locked} aria-busy={pending?.key === "release"} onClick={onRelease}>
              Release (restore size {steering.original})
            </Button>
          </div>
        </>
      )}
    </section>
  );
}
