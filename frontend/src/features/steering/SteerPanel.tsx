import { useState } from "react";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { Button } from "../../ui/Button";
import { Notice } from "../../ui/Notice";
import { ProblemNotice } from "../../ui/ProblemNotice";
import type { PolicyInfo, Target } from "../../wire/generated/models";
import { ControlSetupForm } from "./ControlSetupForm";
import { CoresSection } from "./CoreDivisions";
import { DecisionLog } from "./DecisionLog";
import { changesParameters, type Edits, requestFor } from "./draft";
import { NotSteerableNotice } from "./NotSteerableNotice";
import { policyObstacle, steeringObstacle } from "./obstacles";
import { ParameterForm } from "./ParameterForm";
import { PolicyList } from "./PolicyList";
import { SizeBars } from "./SizeBars";
import { SteeringStatus } from "./SteeringStatus";
import styles from "./SteerPanel.module.css";
import { TrialSection } from "./TrialSection";
import type { Pending, SteerState } from "./useSteering";

interface SteerPanelProps {
  readonly target: Target;
  readonly state: SteerState;
}

/** All that the drawer holds. */
export function SteerPanel({ target, state }: SteerPanelProps) {
  const steer = useStore(useLiveClient().steer);
  const { policies, options, role, steering, pending, problem, undo, edits, counter } = state;
  const [chosen, setChosen] = useState<string | null>(null);
  const ended = target.state !== "attached";
  const obstacle = options === null || steering !== null ? null : steeringObstacle(options);
  const locked = role === "viewer" || ended;
  const shown =
    policies?.find(({ name }) => name === (chosen ?? steering?.policy)) ?? policies?.[0] ?? null;
  const current = policies?.find(({ name }) => name === steering?.policy) ?? null;

  const send = (policy: PolicyInfo, next: Edits, asks: Pending) => {
    const waits = current?.wait ?? null;
    state.steer(requestFor(policy, steering, next, { known: counter, waits }), asks);
  };
  const press = (policy: PolicyInfo) => {
    setChosen(null);
    const text = `Switching to ${policy.name}…`;
    send(policy, edits, { key: `policy:${policy.name}`, text });
  };
  /** Choices take effect at once while something steers; otherwise they wait for a policy. */
  const change = (next: Edits, now: boolean) => {
    if (now && current !== null) {
      // Parameters that are being typed are not sent along.
      send(current, { ...next, parameters: {} }, { key: "change", text: "Applying…" });
    }
    state.setEdits(next);
  };

  return (
    <div className={styles.panel}>
      {role === "viewer" ? (
        <Notice status="info" title="Read-only session">
          Open the page with the operator's link to steer.
        </Notice>
      ) : null}
      {ended ? <Notice status="info" title="No longer attached to this program" /> : null}
      {problem === null ? null : <ProblemNotice problem={problem} />}
      {steering?.problem != null ? (
        <Notice status="warning" title="The policy cannot run right now" urgent>
          {steering.problem}
        </Notice>
      ) : null}
      {options !== null && obstacle !== null && !ended ? (
        <NotSteerableNotice options={options} obstacle={obstacle} />
      ) : null}
      <SteeringStatus
        steering={steering}
        pending={pending}
        locked={locked}
        startable={!locked && obstacle === null}
        onRestart={state.restart}
        onRelease={state.release}
      />
      <CoresSection target={target} />
      {undo === null ? null : (
        <div className={styles.undo} data-undo="">
          <span>{undo.done}</span>
          <Button
            disabled={locked}
            aria-busy={pending?.key === "undo"}
            onClick={() => state.steer(undo.request, { key: "undo", text: "Undoing…" })}
          >
            {undo.label}
          </Button>
        </div>
      )}
      <PolicyList
        policies={policies}
        steering={steering}
        pending={pending}
        locked={locked || obstacle !== null}
        obstacle={(policy) => (obstacle === null ? policyObstacle(policy, options) : "")}
        onPress={press}
      />
      {steer === null ? null : (
        <>
          <SizeBars steer={steer} steering={steering} />
          <DecisionLog target={target} steer={steer} />
        </>
      )}
      {shown === null ? null : (
        <TrialSection
          steer={steer}
          steering={steering}
          policy={shown}
          pending={pending}
          locked={locked || obstacle !== null}
          request={() => {
            const waits = current?.wait ?? null;
            return requestFor(shown, steering, edits, { known: counter, waits });
          }}
          onStart={state.steer}
        />
      )}
      {policies === null || shown === null ? null : (
        <ParameterForm
          policies={policies}
          policy={shown}
          steering={steering}
          edits={edits}
          locked={locked || obstacle !== null}
          onChoose={setChosen}
          onEdit={state.setEdits}
          onApply={() => press(shown)}
          changed={changesParameters(shown, steering, edits)}
        />
      )}
      {options === null || obstacle !== null ? null : (
        <ControlSetupForm
          options={options}
          ports={target.process.ports}
          steering={steering}
          edits={edits}
          locked={locked}
          onChange={change}
        />
      )}
    </div>
  );
}
