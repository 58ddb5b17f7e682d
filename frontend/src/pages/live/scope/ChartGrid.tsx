import type { Target } from "../../../wire/generated/models";
import styles from "./ChartGrid.module.css";
import { ChartPanel } from "./ChartPanel";
import { PANELS, whyAbsent } from "./panels";

/** All charts that this target can have, and a quiet word on those it cannot. */
export function ChartGrid({ target }: { readonly target: Target }) {
  const judged = PANELS.map((panel) => ({ panel, reason: whyAbsent(panel, target) }));
  return (
    <>
      <div className={styles.grid}>
        {judged.map(({ panel, reason }) =>
          reason === null ? <ChartPanel key={panel.chart} panel={panel} /> : null,
        )}
      </div>
      <dl className={styles.absent} aria-label="Not available for this target">
        {judged.map(({ panel, reason }) =>
          reason === null ? null : (
            <div key={panel.chart} data-absent={panel.chart}>
              <dt>{panel.title}</dt>
              <dd>{reason}</dd>
            </div>
          ),
        )}
      </dl>
    </>
  );
}
