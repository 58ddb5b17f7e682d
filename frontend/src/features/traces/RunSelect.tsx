import { localDate } from "../../base/clock";
import { Select } from "../../ui/Select";
import type { RunSummary } from "../../wire/generated/models";
import styles from "./TracesPage.module.css";

interface RunSelectProps {
  readonly run: string;
  /** The newest first. */
  readonly runs: readonly RunSummary[];
  readonly onRun: (run: string) => void;
}

/** The newest of them; an older one is in the address. */
const MOST = 100;

/** Requests of a run: of its time and its processes. */
export function RunSelect({ run, runs, onRun }: RunSelectProps) {
  if (runs.length === 0 && run === "") return null;
  const shown = runs.filter(({ id }, at) => at < MOST || id === run);
  const listed = shown.map((one) => ({
    value: one.id as string,
    label: `${one.name}, ${localDate(one.started_unix_us / 1000)}`,
  }));
  const gone = run !== "" && shown.every(({ id }) => id !== run);
  return (
    <span className={styles.run}>
      <Select
        label="Run"
        value={run}
        choices={[
          { value: "", label: "Any" },
          ...(gone ? [{ value: run, label: run }] : []),
          ...listed,
        ]}
        onChange={onRun}
      />
    </span>
  );
}
