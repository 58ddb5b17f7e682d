import { useState } from "react";
import type { SteerView } from "../../stream/steerView";
import { Button } from "../../ui/Controls";
import type { PolicyInfo, Steering, SteerRequest } from "../../wire/generated/models";
import { wrongNumber } from "./draft";
import { NumberField } from "./ParameterForm";
import { ProofPicture } from "./ProofPicture";
import { SizeCurve } from "./SizeCurve";
import panel from "./SteerPanel.module.css";
import type { Pending } from "./useSteering";

const MAX_S = { low: 10, high: 86400 };

interface TrialSectionProps {
  readonly steer: SteerView | null;
  readonly steering: Steering | null;
  /** Policy tested by the proof. */
  readonly policy: PolicyInfo;
  readonly pending: Pending | null;
  readonly locked: boolean;
  /** Request that starts the policy, with bounds, knob and signal. */
  readonly request: () => SteerRequest;
  readonly onStart: (request: SteerRequest, pending: Pending) => void;
}

/** Two experiments on the live program: operations by size, and the benefit of a policy. */
export function TrialSection(props: TrialSectionProps) {
  const { steer, steering, policy, pending, locked, request, onStart } = props;
  const [most, setMost] = useState("300");
  const wrong = wrongNumber(most, MAX_S.low, MAX_S.high, true);
  const sweep = steering?.sweep ?? steer?.sweep ?? null;
  const proof = steering?.proof ?? steer?.proof ?? null;
  const busy = steering?.sweep != null || steering?.proof?.verdict === "open";
  const disabled = locked || busy || wrong !== "";
  const begin = (next: Partial<SteerRequest>, asks: Pending) => {
    // A trial must act, not shadow.
    onStart({ ...request(), shadow: false, ...next }, asks);
  };
  return (
    <section className={panel.section} aria-label="Measure">
      <h3>
        Measure<small> on the live program; it has its own size again afterwards</small>
      </h3>
      <div className={panel.fields}>
        <NumberField
          label="Longest time"
          unit="s"
          help="It ends sooner when the result is sure, or too much work is lost."
          field={{ text: most, wrong }}
          disabled={locked || busy}
          onChange={setMost}
        />
      </div>
      <div className={panel.buttons}>
        <Button
          disabled={disabled}
          aria-busy={pending?.key === "sweep"}
          onClick={() =>
            begin(
              { policy: "sweep", parameters: {}, sweep: { most_s: Number(most) } },
              { key: "sweep", text: "Starting the sweep…" },
            )
          }
        >
          Size curve
        </Button>
        <Button
          disabled={disabled}
          aria-busy={pending?.key === "prove"}
          onClick={() =>
            begin(
              { proof: { most_s: Number(most) } },
              { key: "prove", text: `Starting the proof of ${policy.name}…` },
            )
          }
        >
          Prove {policy.name}
        </Button>
      </div>
      {sweep === null ? null : <SizeCurve sweep={sweep} />}
      {proof === null ? null : <ProofPicture proof={proof} decisions={steer?.decisions ?? []} />}
    </section>
  );
}
