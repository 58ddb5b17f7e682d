import { useLiveClient } from "../../../base/liveClient";
import { READABLE_MS, useSlowly } from "../../../base/useSlowly";
import { Mark } from "../../../ui/Mark";
import { Tip } from "../../../ui/Tip";
import styles from "./RateInForce.module.css";
import { slowedWords } from "./slowed";

/** The rate that the collector really samples at, while it is less than the one asked for. */
export function RateInForce() {
  const health = useSlowly(useLiveClient().health, READABLE_MS);
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
