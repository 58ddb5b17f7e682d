import { use, useId } from "react";
import { listPolicies } from "../../api/client";
import { usePolled } from "../../api/usePolled";
import { useStore } from "../../base/useStore";
import { Button } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import type { PolicyInfo, Steering, SteeringOptions, Target } from "../../wire/generated/models";
import { requestFor } from "./draft";
import styles from "./SteerPanel.module.css";
import { drawerOpen, SteerStateContext } from "./SteerProvider";
import type { Pending, SteerState } from "./useSteering";

/** Missing prerequisite of all steering; null if a knob and a signal are usable. */
export function steeringObstacle(options: SteeringOptions): "knob" | "signal" | null {
  if (options.knobs.every(({ refusal }) => refusal !== "")) return "knob";
  return options.signals.every(({ refusal }) => refusal !== "") ? "signal" : null;
}

/** Why this policy, unlike others, cannot steer the target; "" if it can. */
export function policyObstacle(policy: PolicyInfo, options: SteeringOptions | null): string {
  if (!policy.wait || options === null) return "";
  const queueWait = options.signals.find(({ kind }) => kind === "queue-wait");
  if (queueWait === undefined) return "Needs queue wait, which this program does not report.";
  return queueWait.refusal === "" ? "" : `Needs queue wait. ${queueWait.refusal}`;
}

/**
 * Recommended policies, measured in docs/results and docs/controllers.md; the first available one
 * is used.
 */
const RECOMMENDED: readonly (readonly [name: string, why: string])[] = [
  [
    "cooperative",
    "In experiments with two programs it was faster than the default in both (docs/results).",
  ],
  ["kalman-kg", "Little regret in simulations (docs/controllers.md)."],
];

interface RankedPolicy {
  readonly policy: PolicyInfo;
  /** Reason of the recommendation; "" if not recommended. */
  readonly recommended: string;
}

/** Policies with the recommended one first, the others in order. */
function recommendedFirst(policies: readonly PolicyInfo[]): readonly RankedPolicy[] {
  const found = RECOMMENDED.find(([name]) => policies.some((each) => each.name === name));
  const ranked = policies.map((policy) => ({
    policy,
    recommended: policy.name === found?.[0] ? found[1] : "",
  }));
  return ranked.sort((a, b) => Number(b.recommended !== "") - Number(a.recommended !== ""));
}

const SHORT = 5;

/** Short list on the timeline: the recommended policy, the first others, and the current one. */
function shortList(policies: readonly PolicyInfo[], current: string | null): readonly PolicyInfo[] {
  const ranked = recommendedFirst(policies).map(({ policy }) => policy);
  const shown = ranked.slice(0, SHORT);
  const other = ranked.slice(SHORT).find(({ name }) => name === current);
  return other === undefined ? shown : [...shown.slice(0, SHORT - 1), other];
}

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

/**
 * Policy buttons on the timeline: a press switches the policy, or restarts the current one's
 * search.
 */
export function PolicyButtons({ target }: { readonly target: Target }) {
  const state = use(SteerStateContext);
  const open = useStore(drawerOpen);
  const may = state !== null && state.role !== "viewer" && target.state === "attached";
  const { value } = usePolled(may ? listPolicies : null, null);
  const current = state?.steering?.policy ?? target.steering?.policy ?? null;
  const opener = (
    <Button variant={may ? "quiet" : "plain"} onClick={() => drawerOpen.set(!open)}>
      {may ? "All policies…" : current === null ? "Choose a policy" : `Policy: ${current}`}
    </Button>
  );
  if (!may || value === null) return <div className={styles.alone}>{opener}</div>;
  return (
    <div className={styles.bar}>
      <Choices state={state} policies={value.policies} />
      {opener}
      <Actions state={state} />
      {/* The drawer shows the problem as well. */}
      {state.problem === null || open ? null : (
        <div className={styles.problem}>
          <ProblemNotice problem={state.problem} />
        </div>
      )}
    </div>
  );
}

interface ChoicesProps {
  readonly state: SteerState;
  readonly policies: readonly PolicyInfo[];
}

function Choices({ state, policies }: ChoicesProps) {
  const { steering, pending, options, edits, counter } = state;
  const current = policies.find(({ name }) => name === steering?.policy) ?? null;
  const press = (policy: PolicyInfo) => {
    if (policy.name === current?.name) return;
    const given = { known: counter, waits: current?.wait ?? null };
    const text = `Switching to ${policy.name}…`;
    state.steer(requestFor(policy, steering, edits, given), { key: `policy:${policy.name}`, text });
  };
  return (
    <fieldset className={styles.group}>
      <legend className="visually-hidden">Policy</legend>
      {shortList(policies, current?.name ?? null).map((policy) => {
        const refusal = policyObstacle(policy, options);
        return (
          <Button
            key={policy.name}
            className={styles.policy}
            aria-pressed={policy.name === current?.name}
            aria-busy={pending?.key === `policy:${policy.name}`}
            disabled={refusal !== ""}
            title={refusal === "" ? policy.meaning : refusal}
            onClick={() => press(policy)}
          >
            {policy.name}
          </Button>
        );
      })}
    </fieldset>
  );
}

/** Actions on the current policy, and the undo of the last press. */
function Actions({ state }: { readonly state: SteerState }) {
  const { steering, pending, undo } = state;
  return (
    <>
      {steering === null ? null : (
        <>
          <Button aria-busy={pending?.key === "restart"} onClick={state.restart}>
            Restart search
          </Button>
          <Button aria-busy={pending?.key === "release"} onClick={state.release}>
            Release
          </Button>
        </>
      )}
      {undo === null ? null : (
        <Button
          variant="quiet"
          aria-busy={pending?.key === "undo"}
          onClick={() => state.steer(undo.request, { key: "undo", text: "Undoing…" })}
        >
          {undo.label}
        </Button>
      )}
      <span className={`note ${styles.status}`} role="status">
        {pending?.text ?? undo?.done ?? ""}
      </span>
    </>
  );
}
