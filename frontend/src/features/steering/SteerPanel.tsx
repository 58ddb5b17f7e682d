import { useState } from "react";
import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/client";
import { knobName, signalName, sizeTitle } from "../../stream/steerView";
import { Button } from "../../ui/Controls";
import { Notice, ProblemNotice, StatusIcon } from "../../ui/Notices";
import type { PolicyInfo, Steering, SteeringOptions, Target } from "../../wire/generated/models";
import { ControlSetupForm } from "./ControlSetupForm";
import { CoresSection } from "./CoreDivisions";
import { DecisionLog } from "./DecisionLog";
import { changesParameters, type Edits, requestFor } from "./draft";
import { ParameterForm } from "./ParameterForm";
import { PolicyList, policyObstacle, steeringObstacle } from "./PolicyButtons";
import { SizeBars } from "./SizeBars";
import styles from "./SteerPanel.module.css";
import { TrialSection } from "./TrialSection";
import type { Pending, SteerState } from "./useSteering";

interface SteerPanelProps {
  readonly target: Target;
  readonly state: SteerState;
}

/** Content of the drawer. */
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
  /** Choices take effect at once while a policy steers; otherwise they wait for a policy. */
  const change = (next: Edits, now: boolean) => {
    if (now && current !== null) {
      // Parameters still being typed are excluded.
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

interface NotSteerableNoticeProps {
  readonly options: SteeringOptions;
  readonly obstacle: "knob" | "signal";
}

/** Why the program cannot be steered, and the remedy. */
function NotSteerableNotice({ options, obstacle }: NotSteerableNoticeProps) {
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

interface SteeringStatusProps {
  readonly steering: Steering | null;
  readonly pending: Pending | null;
  readonly locked: boolean;
  /** A policy could be started. */
  readonly startable: boolean;
  readonly onRestart: () => void;
  readonly onRelease: () => void;
}

/** The current steering in words, with its two actions. */
function SteeringStatus(props: SteeringStatusProps) {
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
            <span className={styles.steeringStatusAbout}>
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
                {/* The line already mentions shadow mode. */}
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
