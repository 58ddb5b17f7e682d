import { useId } from "react";
import { Button } from "../../ui/Controls";
import type { PolicyInfo, Steering } from "../../wire/generated/models";
import { recommendedFirst } from "./recommended";
import styles from "./SteerPanel.module.css";
import type { Pending } from "./useSteering";

interface PolicyListProps {
  readonly policies: readonly PolicyInfo[] | null;
  readonly steering: Steering | null;
  readonly pending: Pending | null;
  readonly locked: boolean;
  /** Why a policy cannot be used; "" if it can. */
  readonly obstacle: (policy: PolicyInfo) => string;
  readonly onPress: (policy: PolicyInfo) => void;
}

/** Policies, each with a button to switch, and a sentence that describes the policy. */
export function PolicyList(props: PolicyListProps) {
  const { policies, steering, pending, locked, obstacle, onPress } = props;
  return (
    <section aria-label="Policy" className={styles.policies}>
      <h3>Policy</h3>
      <ul className={styles.list}>
        {recommendedFirst(policies ?? []).map(({ policy, recommended }) => (
          <Policy
            key={policy.name}
            policy={policy}
            recommended={recommended}
            pressed={policy.name === steering?.policy}
            asked={pending?.key === `policy:${policy.name}`}
            locked={locked}
            refusal={obstacle(policy)}
            onPress={onPress}
          />
        ))}
      </ul>
    </section>
  );
}

interface PolicyProps {
  readonly policy: PolicyInfo;
  /** Why it is listed first; "" if it is not. */
  readonly recommended: string;
  readonly pressed: boolean;
  readonly asked: boolean;
  readonly locked: boolean;
  readonly refusal: string;
  readonly onPress: (policy: PolicyInfo) => void;
}

function Policy(props: PolicyProps) {
  const { policy, recommended, pressed, asked, locked, refusal, onPress } = props;
  const id = useId();
  return (
    <li className={styles.policyListPolicy} data-pressed={pressed}>
      <Button
        className={styles.button}
        aria-pressed={pressed}
        aria-busy={asked}
        aria-describedby={id}
        disabled={locked || refusal !== ""}
        onClick={() => (pressed ? undefined : onPress(policy))}
      >
        <span className={styles.sign} aria-hidden="true">
          {asked ? "…" : pressed ? "●" : ""}
        </span>
        <span className={styles.name}>{policy.name}</span>
      </Button>
      <p id={id} className={styles.policyListMeaning} title={policy.source}>
        {recommended === "" ? null : (
          <strong className={styles.recommended} title={recommended}>
            Recommended.{" "}
          </strong>
        )}
        {policy.meaning}
        {refusal === "" ? null : <span className={styles.refusal}> {refusal}</span>}
      </p>
    </li>
  );
}
