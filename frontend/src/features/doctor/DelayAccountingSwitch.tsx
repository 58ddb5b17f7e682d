import { useState } from "react";
import { setDelayAccounting } from "../../api/client";
import { asProblem } from "../../api/problem";
import { Button } from "../../ui/Button";
import { ProblemNotice } from "../../ui/ProblemNotice";
import type { DoctorReport, Problem } from "../../wire/generated/models";
import styles from "./CheckCard.module.css";

interface DelayAccountingSwitchProps {
  readonly host: string | null;
  readonly on: boolean;
  readonly onReport: (report: DoctorReport) => void;
}

/** Sets the kernel's delay accounting, and says what that does and does not do. */
export function DelayAccountingSwitch({ host, on, onReport }: DelayAccountingSwitchProps) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const press = async () => {
    setBusy(true);
    setProblem(null);
    try {
      onReport(await setDelayAccounting(host, !on));
    } catch (error) {
      setProblem(asProblem(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className={styles.switch}>
      <p>
        {on
          ? "Threads that started before it was turned on have no delays: restart the program and attach again to see all of them. Turning it off stops the delay counters of all targets, attached ones included."
          : "Only threads that start while it is on have delays: turn it on, restart the program, then attach again. The setting is host-wide, adds a small cost to every wait, and lasts until the next boot or until you turn it off here."}
      </p>
      <Button onClick={press} disabled={busy}>
        {on ? "Turn off delay accounting" : "Turn on delay accounting"}
      </Button>
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </div>
  );
}
