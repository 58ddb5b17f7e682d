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
          ? "Threads that started before it was switched on go without; start the program anew and attach again to see all of its delays. Switched off, delays stand still, also those of targets that are attached."
          : "Only threads that start afterwards have delays: switch it on, start the program anew, attach again. It is a switch of the whole machine, costs a little time at each wait, and lasts until the next boot or until it is switched off here."}
      </p>
      <Button onClick={press} disabled={busy}>
        {on ? "Switch delay accounting off" : "Switch delay accounting on"}
      </Button>
      {problem === null ? null : <ProblemNotice problem={problem} />}
    </div>
  );
}
