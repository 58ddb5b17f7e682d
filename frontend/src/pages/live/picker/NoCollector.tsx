import { CommandLine } from "../../../ui/CommandLine";
import { EmptyState } from "../../../ui/EmptyState";
import styles from "./NoCollector.module.css";

/** Nothing measures yet: how to start what does. */
export function NoCollector() {
  const scheme = window.location.protocol === "https:" ? "wss" : "ws";
  const backend = `${scheme}://${window.location.host}/ws/collector`;
  return (
    <EmptyState title="No collector is connected">
      <p>
        The backend runs, but nothing measures. The collector reads the kernel's counters on the
        machine to watch; as root it can use taskstats, without it falls back to /proc.
      </p>
      <div className={styles.commands}>
        <p>
          On this machine, collector and backend together (it starts a collector anew when one
          ends):
        </p>
        <CommandLine command="sudo tidscope up" what="the command that starts both" />
        <p>Or a collector alone, with the backend's secret in TIDSCOPE_COLLECTOR_SECRET:</p>
        <CommandLine
          command={`sudo --preserve-env=TIDSCOPE_COLLECTOR_SECRET tidscope collect --backend ${backend}`}
          what="the command that starts a collector"
        />
      </div>
      <p>This page goes on by itself as soon as one connects.</p>
    </EmptyState>
  );
}
