import { use } from "react";
import { listPolicies } from "../../api/client";
import { usePolled } from "../../api/usePolled";
import { useStore } from "../../base/useStore";
import { Button } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import type { PolicyInfo, Target } from "../../wire/generated/models";
import { requestFor } from "./draft";
import { drawerOpen } from "./drawer";
import { policyObstacle } from "./obstacles";
import { shortList } from "./recommended";
import styles from "./SteerPanel.module.css";
import { SteerStateContext } from "./SteerProvider";
import type { SteerState } from "./useSteering";

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
    <Button look={may ? "quiet" : "plain"} onClick={() => drawerOpen.set(!open)}>
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
          look="quiet"
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
