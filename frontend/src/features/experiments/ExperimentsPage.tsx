/**
 * Feature `experiments`: experiments of the backend in, progress, charts and tables out. The feature
 * must not compute means or intervals. This file: the list of experiments, asked for again at
 * intervals, and texts that both pages show.
 */

import type { ReactNode } from "react";
import { listExperiments } from "../../api/experiments";
import { type Polled, usePolled } from "../../api/usePolled";
import { experimentHref } from "../../base/route";
import { counted, formatDuration, formatGain } from "../../stream/format";
import { Button, PageLink } from "../../ui/Controls";
import { EmptyState, ProblemNotice } from "../../ui/Notices";
import type {
  ExperimentFigure,
  ExperimentSummary,
  ExperimentsResponse,
} from "../../wire/generated/models";
import shared from "../compare/ComparePage.module.css";
import styles from "./ExperimentsPage.module.css";
import { StartExperiment } from "./StartExperiment";

/** Progress of an experiment. */
export function progressText(one: ExperimentSummary): string {
  const cells = `${one.cells_done} of ${counted(one.cells, "cell")}, ${counted(one.repeats, "repeat")}`;
  if (one.state === "complete") return cells;
  const left =
    one.least_left === one.most_left
      ? `${one.least_left}`
      : `${one.least_left} to ${one.most_left}`;
  const time = one.left_s === null ? "" : `, at least ${formatDuration(one.left_s)}`;
  return `${cells}; ${left} left${time}`;
}

const VERDICTS: Readonly<Record<string, string>> = {
  unclear: "no difference shown",
  equal: "no difference",
  unknown: "",
};

/** A gain in percent of the baseline, with interval and verdict; "" if none. */
export function gainText(figure: ExperimentFigure | undefined): string {
  const gain = figure?.gain;
  if (gain === null || gain === undefined || gain.percent === null || !gain.absolute) return "";
  const scale = gain.percent / gain.absolute;
  const [low, high] = [gain.low, gain.high].map((end) => (end === null ? null : end * scale));
  const text = formatGain(gain.percent, low ?? null, high ?? null);
  const verdict = VERDICTS[gain.verdict] ?? gain.verdict;
  return `${text} ${verdict}${correctionText(figure)}`.trim();
}

/** p-value after Holm's correction; "" for a single comparison. */
function correctionText(figure: ExperimentFigure | undefined): string {
  const p = figure?.adjusted_p ?? null;
  if (figure === undefined || p === null || figure.comparisons < 2) return "";
  return `, p = ${Number(p.toPrecision(2))} of ${figure.comparisons} (Holm)`;
}

const PERIOD_MS = 3000;

/** All experiments with their progress. */
export function ExperimentsPage() {
  const polled = usePolled(listExperiments, PERIOD_MS);
  return (
    <section className={shared.page} aria-busy={polled.loading && polled.value === null}>
      <header className={shared.head}>
        <h1>Experiments</h1>
      </header>
      <Loaded polled={polled} what="experiments">
        {(value) => (
          <>
            <StartExperiment files={value.files} child={value.child} onChange={polled.refresh} />
            <List found={value} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function List({ found }: { readonly found: ExperimentsResponse }) {
  const { experiments, damaged } = found;
  return (
    <>
      {experiments.length === 0 ? (
        <EmptyState title="No experiments yet">
          <p>
            An experiment repeats workloads under a matrix of policies and sizes until the numbers
            stand. Start one with <code>tidscope experiment pool-size --quick</code>.
          </p>
        </EmptyState>
      ) : (
        <div className={`${shared.panel} ${shared.scroll}`}>
          <table className={shared.table}>
            <thead>
              <tr>
                <th scope="col">Experiment</th>
                <th scope="col">State</th>
                <th scope="col">Progress</th>
                <th scope="col">Begun</th>
              </tr>
            </thead>
            <tbody>
              {experiments.map((one) => (
                <Row key={one.id} one={one} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {damaged.length === 0 ? null : (
        <ul className={shared.hint}>
          {damaged.map((text) => (
            <li key={text}>Cannot be read: {text}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function Row({ one }: { readonly one: ExperimentSummary }) {
  return (
    <tr>
      <th scope="row" className={styles.name}>
        <PageLink href={experimentHref(one.id)}>{one.title}</PageLink>
        <div className={styles.note}>
          {one.name}
          {one.preset === "full" ? "" : `, ${one.preset}`}: {one.workloads.join(" beside ")}
        </div>
      </th>
      <td>{one.state}</td>
      <td>
        <progress
          className={styles.bar}
          max={one.repeats + one.least_left}
          value={one.repeats}
          aria-label="Progress"
        />
        <div className={shared.hint}>{progressText(one)}</div>
      </td>
      <td className={styles.time}>{new Date(one.started_unix_us / 1000).toLocaleString()}</td>
    </tr>
  );
}

interface LoadedProps<T> {
  readonly polled: Polled<T>;
  /** Noun of the loaded content, as in "Loading experiments…". */
  readonly what: string;
  readonly children: (value: T) => ReactNode;
}

/**
 * Result of polling, with the last problem above it, and a loading note before the first result.
 */
export function Loaded<T>({ polled, what, children }: LoadedProps<T>) {
  const { value, problem, refresh } = polled;
  return (
    <>
      {problem === null ? null : (
        <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
      )}
      {value !== null ? children(value) : null}
      {value === null && problem === null ? <EmptyState title={`Loading ${what}…`} /> : null}
    </>
  );
}
