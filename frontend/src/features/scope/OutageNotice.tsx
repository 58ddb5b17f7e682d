import { useState } from "react";
import { localTime } from "../../base/clock";
import { Button } from "../../ui/Button";
import { Notice } from "../../ui/Notice";
import type { CollectorOutage, Host } from "../../wire/generated/models";

/** How the collector of a host went away, what came back with it, and what did not. */
export function OutageNotice({ host }: { readonly host: Host }) {
  const [closed, setClosed] = useState<number | null>(null);
  const outage = host.outage ?? null;
  if (!host.connected) {
    return (
      <Notice status="warning" title={awayTitle(outage)}>
        {awayText(outage)}
      </Notice>
    );
  }
  if (outage?.kind !== "crashed" || closed === outage.at_unix_us) return null;
  const { attached, failed, restored, leases } = outage;
  const steered = outage.steered ?? [];
  return (
    <Notice status="warning" title={`The collector crashed at ${at(outage.at_unix_us)}`}>
      <p>
        {outage.back_unix_us === null
          ? ""
          : `Another one is there since ${at(outage.back_unix_us)}. `}
        {attached.length === 0 ? "" : `Attached again: ${attached.join(", ")}. `}
        {steered.length === 0 ? "" : `Policies started again: ${steered.join(", ")}. `}
        Samples in between are missing.{steered.length === 0 ? " No policy was started again." : ""}
      </p>
      <ul data-restored="">
        {restored.map(({ pid, name, threads, problem }) => (
          <li key={`r${pid}`}>
            {problem === ""
              ? `CPU affinity of ${name} (${pid}) restored, ${threads} threads.`
              : `CPU affinity of ${name} (${pid}) not restored: ${problem}`}
          </li>
        ))}
        {leases.map((name) => (
          <li key={`l${name}`}>
            {name} has its size back from its agent, at most 10 s after the crash.
          </li>
        ))}
        {failed.map((text) => (
          <li key={`f${text}`}>Not done: {text}</li>
        ))}
      </ul>
      <Button onClick={() => setClosed(outage.at_unix_us)}>Dismiss</Button>
    </Notice>
  );
}

function awayTitle(outage: CollectorOutage | null): string {
  if (outage === null) return "Collector disconnected";
  return outage.kind === "ended"
    ? `The collector was stopped at ${at(outage.at_unix_us)}`
    : `The collector crashed or cannot be reached since ${at(outage.at_unix_us)}`;
}

function awayText(outage: CollectorOutage | null): string {
  if (outage?.kind === "ended") return "It restored all sizes first. Start it to attach again.";
  return (
    "Its connection broke without a goodbye. If it runs, it keeps sampling and sends what was missed " +
    "when it reconnects. If it crashed, programs are attached again as soon as it is back."
  );
}

function at(unix_us: number): string {
  return localTime(unix_us / 1000);
}
