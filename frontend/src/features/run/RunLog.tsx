import { useStore } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import type { RunManifest } from "../../wire/generated/models";
import { DecisionLog } from "../steering/DecisionLog";
import { ProofPicture } from "../steering/ProofPicture";
import { SizeCurve } from "../steering/SizeCurve";
import { Marks } from "./Marks";
import styles from "./RunLog.module.css";

interface RunLogProps {
  readonly run: RunManifest;
  readonly onChange: (run: RunManifest) => void;
}

/** Moments of a run: those that people marked, and what a policy decided. */
export function RunLog({ run, onChange }: RunLogProps) {
  const steer = useStore(useLiveClient().steer);
  const steered = steer !== null && (steer.total > 0 || steer.bands.length > 0);
  return (
    <div className={styles.log}>
      <Marks run={run} onChange={onChange} />
      {steered ? (
        <div className={`surface ${styles.decisions}`}>
          <DecisionLog target={run.target} steer={steer} />
        </div>
      ) : null}
      {steer === null || (steer.proof === null && steer.sweep === null) ? null : (
        <section className={`surface ${styles.decisions}`} aria-label="Measured">
          <h3>Measured</h3>
          {steer.sweep === null ? null : <SizeCurve sweep={steer.sweep} />}
          {steer.proof === null ? null : (
            <ProofPicture proof={steer.proof} decisions={steer.decisions} />
          )}
        </section>
      )}
    </div>
  );
}
