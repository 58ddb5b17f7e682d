import { Button } from "../../../ui/Button";
import { Tooltip } from "../../../ui/Tooltip";
import type { PolicyInfo, Steering } from "../../../wire/generated/models";
import styles from "./PolicyButtons.module.css";
import type { Pending } from "./useSteering";

interface PolicyButtonsProps {
  readonly policies: readonly PolicyInfo[] | null;
  readonly steering: Steering | null;
  readonly pending: Pending | null;
  readonly locked: boolean;
  /** Why a policy cannot be used; "" if it can. */
  readonly obstacle: (policy: PolicyInfo) => string;
  readonly onPress: (policy: PolicyInfo) => void;
}

/** A button a policy: one press switches. */
export function PolicyButtons({
  policies,
  steering,
  pending,
  locked,
  obstacle,
  onPress,
}: PolicyButtonsProps) {
  const refused = (policies ?? []).filter((policy) => obstacle(policy) !== "");
  return (
    <section aria-label="Policy" className={styles.policies}>
      <h3>Policy</h3>
      <div className={styles.buttons}>
        {policies?.map((policy) => {
          const { name, meaning, source } = policy;
          const asked = pending?.key === `policy:${name}`;
          const pressed = name === steering?.policy;
          return (
            <Tooltip
              key={name}
              className={styles.cell}
              text={
                <>
                  {meaning}
                  <br />
                  <small>{source}</small>
                </>
              }
            >
              <Button
                className={styles.button ?? ""}
                aria-pressed={pressed}
                aria-busy={asked}
                disabled={locked || obstacle(policy) !== ""}
                onClick={() => (pressed ? undefined : onPress(policy))}
              >
                <span className={styles.sign} aria-hidden="true">
                  {asked ? "…" : pressed ? "●" : ""}
                </span>
                <span className={styles.name}>{name}</span>
              </Button>
            </Tooltip>
          );
        })}
      </div>
      {refused.map((policy) => (
        <p key={policy.name} className={styles.refused}>
          <b>{policy.name}</b>: {obstacle(policy)}
        </p>
      ))}
    </section>
  );
}
