import { memo } from "react";
import type { Target } from "../../../../wire/generated/models";
import grid from "../ChartGrid.module.css";
import { CallsPanel } from "./CallsPanel";
import { LocksPanel } from "./LocksPanel";
import { TakersPanel } from "./TakersPanel";
import { WakesPanel } from "./WakesPanel";

/** What the ledger counts beside time: wake-ups, locks, who takes the CPU, system calls. */
export const FactPanels = memo(function FactPanels({ target }: { readonly target: Target }) {
  const { ledger, ledger_reason } = target.source;
  if (!ledger) {
    return (
      <dl className={grid.absent} aria-label="Not available without a ledger">
        <div data-absent="ledger">
          <dt>Wake-ups, locks, system calls</dt>
          <dd>{ledger_reason ?? "This target has no ledger of states."}</dd>
        </div>
      </dl>
    );
  }
  return (
    <>
      <WakesPanel />
      <LocksPanel />
      <TakersPanel />
      <CallsPanel />
    </>
  );
});
