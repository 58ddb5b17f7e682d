import { useStore } from "../../base/useStore";
import { Button } from "../../ui/Controls";
import { drawerOpen } from "./drawer";
import styles from "./SteerPanel.module.css";

/** Opens and closes the Steer drawer; the focus returns to this button. */
export function SteerButton() {
  const open = useStore(drawerOpen);
  return (
    <Button
      data-steer-button
      className={styles.opens ?? ""}
      aria-expanded={open}
      aria-controls="steer"
      aria-keyshortcuts="s"
      onClick={() => drawerOpen.set(!open)}
    >
      Steer
    </Button>
  );
}
