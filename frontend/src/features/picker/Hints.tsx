import { useState } from "react";
import { Button } from "../../ui/Button";
import styles from "./Hints.module.css";

const KEY = "tidscope.hints";
const SEEN = "seen";

/** They are not shown again on this browser. */
export function hideHints(): void {
  window.localStorage.setItem(KEY, SEEN);
}

/** The first steps, until somebody took one or closed them. */
export function Hints() {
  const [shown, setShown] = useState(() => window.localStorage.getItem(KEY) !== SEEN);
  if (!shown) {
    return null;
  }
  return (
    <section className={styles.hints} aria-label="First steps">
      <ol>
        <li>
          <strong>Pick</strong> a process or group: nothing is stopped or changed in it.
        </li>
        <li>
          <strong>Drag</strong> over a moment in any chart: everything answers for that moment.
        </li>
        <li>
          <strong>Record</strong> a run, change something, and compare the two.
        </li>
      </ol>
      <Button
        look="quiet"
        onClick={() => {
          hideHints();
          setShown(false);
        }}
      >
        Got it
      </Button>
    </section>
  );
}
