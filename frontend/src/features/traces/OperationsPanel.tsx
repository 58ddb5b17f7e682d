import { Fragment, useState } from "react";
import { Button } from "../../ui/Controls";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { OperationRank } from "../../wire/generated/models";
import { nsColumn, numberColumn, partColumn, percentColumn } from "./Columns";
import { changeText, operationName, timeText } from "./callTree";
import type { AnalysisProps } from "./props";
import styles from "./TracesPage.module.css";
import { ValuesSection } from "./ValuesSection";

const keyOf = (row: OperationRank) => operationName(row);

const SAVING =
  "What a request would gain in the mean if the operation took no time: other calls may then be what it waits for.";
const DRAG =
  "What a request would gain in the mean if the operation were not called, with all that it calls.";
const SLACK =
  "By how much it could be slower without a request taking longer (median of the requests with it). What is on the critical path has none.";
const MEANINGS = [
  ["Share", "Its own time on critical paths, of the time of all of them."],
  ["P50, P95", "Its own time on the critical path, over all requests; 0 where it is not on it."],
  ["Saving", SAVING],
  ["Drag", DRAG],
  ["Slack", SLACK],
  ["Failed", "Of the requests on whose critical path it is, those that failed."],
] as const;

const COLUMNS: readonly SortedColumn<OperationRank>[] = [
  { id: "name", label: "Operation", text: true, value: keyOf, cell: keyOf },
  partColumn("share", "Share", ({ share }) => share, { tip: "Of the time of all critical paths." }),
  nsColumn("p50", "P50", ({ p50_exclusive_ns }) => p50_exclusive_ns, {
    tip: "Its own time on the critical path, over all requests.",
  }),
  nsColumn("p95", "P95", ({ p95_exclusive_ns }) => p95_exclusive_ns),
  nsColumn("saving", "Saving", ({ saving_ns }) => saving_ns, {
    tip: SAVING,
  }),
  nsColumn("drag", "Drag", ({ drag_ns }) => drag_ns, {
    tip: DRAG,
  }),
  nsColumn("slack", "Slack", ({ slack_ns }) => slack_ns, {
    tip: SLACK,
  }),
  numberColumn("traces", "Requests", ({ traces }) => traces, {
    tip: "On whose critical path it is.",
  }),
  percentColumn("errors", "Failed", ({ error_share }) => error_share, {
    tip: "Of the requests on whose critical path it is.",
  }),
];

/** Operations by cost, over all callers. */
export function OperationsPanel(props: AnalysisProps) {
  const { analysis, link, onLink } = props;
  return (
    <Panel title="Operations" note="wherever they are called; select one to see what it is worth">
      <div className={styles.body}>
        {link.project === "" ? null : (
          <>
            <Projection key={link.project} {...props} />
            <ValuesSection {...props} />
          </>
        )}
        <div className={styles.table}>
          <SortedTable
            label="Operations"
            columns={COLUMNS}
            rows={analysis.ranking}
            keyOf={keyOf}
            sortedBy="share"
            first={14}
            pressed={(row) => keyOf(row) === link.project}
            onPress={(row) => onLink({ project: keyOf(row) === link.project ? "" : keyOf(row) })}
          />
        </div>
        <details>
          <summary>What the columns mean</summary>
          <dl className={styles.meanings}>
            {MEANINGS.map(([name, meaning]) => (
              <Fragment key={name}>
                <dt>{name}</dt>
                <dd>{meaning}</dd>
              </Fragment>
            ))}
          </dl>
        </details>
      </div>
    </Panel>
  );
}

/** Projected request durations if an operation took less time. */
function Projection({ analysis, link, onLink }: AnalysisProps) {
  const [text, setText] = useState(String(link.less_ms));
  const { projection, duration } = analysis;
  const less_ms = Number(text);
  const wrong = text.trim() === "" || !(less_ms >= 0) || less_ms > 1e7;
  const finish = () => {
    if (!wrong && less_ms !== link.less_ms) onLink({ less_ms });
  };
  const fits = projection !== null && operationName(projection) === link.project;
  return (
    <section aria-label="Projection" className={styles.body}>
      <div className={styles.project}>
        <label>
          If <strong>{link.project}</strong> took{" "}
          <input
            className="text-field"
            inputMode="decimal"
            value={text}
            aria-invalid={wrong}
            onChange={(event) => setText(event.target.value)}
            onBlur={finish}
            onKeyDown={(event) => {
              if (event.key === "Enter") finish();
            }}
          />{" "}
          ms less
        </label>
        <Button onClick={() => onLink({ project: "", exclude: [...link.exclude, link.project] })}>
          Leave it out of paths
        </Button>
        <Button variant="quiet" onClick={() => onLink({ project: "" })}>
          Close
        </Button>
      </div>
      {!fits || projection === null ? (
        <p className={styles.hint}>Projecting…</p>
      ) : (
        <table className={styles.quantiles}>
          <thead>
            <tr>
              <th scope="col">
                <span className="visually-hidden">Quantile</span>
              </th>
              <th scope="col">Now</th>
              <th scope="col">Projected</th>
              <th scope="col">Change</th>
            </tr>
          </thead>
          <tbody>
            {(["p50_ns", "p95_ns", "p99_ns"] as const).map((name) => (
              <tr key={name}>
                <th scope="row">{name.slice(0, 3).toUpperCase()}</th>
                <td>{timeText(duration[name])}</td>
                <td>{timeText(projection.quantiles[name])}</td>
                <td>{changeText(projection.quantiles[name] - duration[name])}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
