import { READABLE_MS, useThrottled } from "../../base/useStore";
import { useLiveClient } from "../../stream/clients";
import { StatusIcon } from "../../ui/StatusIcon";
import { Tooltip } from "../../ui/Tooltip";
import styles from "./EffectiveRate.module.css";
import { throttlingText } from "./throttling";

/** The effective sampling rate, while it is below the requested one. */
export function EffectiveRate() {
  const health = useThrottled(useLiveClient().health, READABLE_MS);
  const text = health === null ? null : throttlingText(health);
  if (health === null || text === null) {
    return null;
  }
  return (
    <Tooltip text={text}>
      <button type="button" className={styles.rate} data-effective-hz={health.in_force_hz}>
        <StatusIcon status="warning" />
        {health.in_force_hz} Hz effective ({health.rate_hz} requested)
        <span className={styles.text}>. {text}</span>
      </button>
    </Tooltip>
  );
}
