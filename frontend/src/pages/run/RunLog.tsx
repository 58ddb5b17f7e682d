import { useLiveClient } from "../../base/liveClient";
import { useReadable } from "../../base/useReadable";
import type { RunManifest } from "../../wire/generated/models";
import { DecisionLog } from "../live/steer/DecisionLog";
import { Marks } from "./Marks";
import styles from "./RunLog.module.css";

interface RunLogProps {
  readonly run: RunManifest;
  readonly onChange: (run: RunManifest) => void;
}

/** Moments of a run: those that people marked, and what a policy decided. */
export function RunLog({ run, onChange }: RunLogProps) {
  const steer = useReadable(useLiveClient().steer);
  const steered = steer !== null && (steer.total > 0 || steer.bands.length > 0);
  return (
    <div className={styles.log}>
      <Marks run={run} onChange={onChange} />
      {steered ? (
        <div className={styles.decisions}>
          <DecisionLog target={run.target} steer={steer} />
        </div>
      ) : null}
    </div>
  );
}
