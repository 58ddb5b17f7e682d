import { steerOpen } from "../../../base/steerOpen";
import { useReadable } from "../../../base/useReadable";
import { Button } from "../../../ui/Button";
import styles from "./SteerButton.module.css";

/** Opens and closes the Steer drawer; the focus returns here. */
export function SteerButton() {
  const open = useReadable(steerOpen);
  return (
    <Button
      data-steer-button
      className={styles.opens ?? ""}
      aria-expanded={open}
      aria-controls="steer"
      aria-keyshortcuts="s"
      onClick={() => steerOpen.set(!open)}
    >
      Steer
    </Button>
  );
}
