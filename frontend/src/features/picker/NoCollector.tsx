import { CommandLine } from "../../ui/CommandLine";
import { EmptyState } from "../../ui/EmptyState";
import styles from "./NoCollector.module.css";

/** Nothing measures yet: how to start what does. */
export function NoCollector() {
  const scheme = window.location.protocol === "https:" ? "wss" : "ws";
  const backend = `${scheme}://${window.location.host}/ws/collector`;
  return (
    <EmptyState title="No collector is connected">
      <p>
        The backend is running, but no collector is connected to it. A collector reads the kernel's
        counters on the host you want to watch: through taskstats as root, otherwise from /proc.
      </p>
      <div className={styles.commands}>
        <p>
          To run collector and backend together on this host (restarts the collector if it exits):
        </p>
        <CommandLine command="sudo tidscope up" what="the command that starts both" />
        <p>
          To run only a collector, with the secret that <code>tidscope hosts add NAME</code> prints
          where the backend runs:
        </p>
        <CommandLine
          command={`sudo --preserve-env=TIDSCOPE_COLLECTOR_SECRET tidscope collect --backend ${backend}`}
          what="the command that starts a collector"
        />
      </div>
      <p>This page continues as soon as a collector connects.</p>
    </EmptyState>
  );
}
