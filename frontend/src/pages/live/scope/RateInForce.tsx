import { READABLE_MS, useThrottled } from "../../../base/useStore";
import { Mark } from "../../../ui/Mark";
import { Tip } from "../../../ui/Tip";
import { useLiveClient } from "../../clients";
import styles from "./RateInForce.module.css";
import { slowedWords } from "./slowed";

/** The rate that the collector really samples at, while it is less than the one asked for. */
export function RateInForce() {
  const health = useThrottled(useLiveClient().health, READABLE_MS);
  const words = health === null ? null : slowedWords(health);
  if (health === null || words === null) {
    return null;
  }
  return (
    <Tip text={words}>
      <button type="button" className={styles.inForce} data-rate-in-force={health.in_force_hz}>
        <Mark kind="fair" />
        {health.in_force_hz} Hz in force
        <span className={styles.words}>. {words}</span>
      </button>
    </Tip>
  );
}
