import { useCallback, useEffect, useMemo } from "react";
import { getExperiment } from "../../api/experiments";
import { isKind } from "../../api/http";
import { usePolled } from "../../api/usePolled";
import { liveHref, runHref } from "../../base/route";
import { navigate } from "../../base/routing";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { CHART_THEMES } from "../../chart/palette";
import { useLiveClient } from "../../stream/client";
import { Button, PageLink } from "../../ui/Controls";
import { EmptyState, Notice } from "../../ui/Notices";
import { scrollable } from "../../ui/Panel";
import type {
  Experiment,
  ExperimentCell,
  ExperimentChart,
  ExperimentSummary,
} from "../../wire/generated/models";
import shared from "../compare/ComparePage.module.css";
import { Tiles } from "../tiles/Tiles";
import { ExperimentFigure } from "./ExperimentFigure";
import { gainText, Loaded, progressText } from "./ExperimentsPage";
import styles from "./ExperimentsPage.module.css";
import { meanText, numberText, seriesColour, seriesNames } from "./experimentOption";

const PERIOD_MS = 3000;
const CHART_PX = 300;
/** Maximum number of linked repeats per cell. */
const SHOWN_RUNS = 3;

/** An experiment: measurements as charts and as a table. */
export function ExperimentPage({ id }: { readonly id: string }) {
  const load = useCallback((signal: AbortSignal) => getExperiment(id, signal), [id]);
  const polled = usePolled(load, PERIOD_MS);
  if (polled.value === null && isKind(polled.problem, "unknown-experiment")) {
    return (
      <EmptyState title="Experiment not found" page>
        <p>
          <code>{id}</code> was deleted, cannot be read, or ran on another host.
        </p>
        <Button variant="primary" onClick={() => navigate("/experiments")}>
          All experiments
        </Button>
      </EmptyState>
    );
  }
  return (
    <section className={shared.page} aria-busy={polled.loading && polled.value === null}>
      <Loaded polled={polled} what="experiment">
        {(value) => <Measured experiment={value} />}
      </Loaded>
    </section>
  );
}

function Measured({ experiment: value }: { readonly experiment: Experiment }) {
  return (
    <>
      <header className={shared.head}>
        <h1>{value.summary.title}</h1>
        <span className={shared.hint}>{value.summary.id}</span>
      </header>
      <Verdicts experiment={value} />
      <State experiment={value} />
      <LiveRepeat summary={value.summary} />
      {value.warnings.length === 0 ? null : (
        <Notice status="warning" title="What to know about these numbers">
          <ul className={styles.list}>
            {value.warnings.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </Notice>
      )}
      <div className={styles.charts}>
        {value.charts.map((chart) => (
          <Chart key={chart.id} chart={chart} charts={value.charts} />
        ))}
      </div>
      <AgainstDefault experiment={value} />
      <Cells experiment={value} />
      <section className={shared.panel} aria-label="Set-up">
        <header className={shared.panelHead}>
          <h2>Set-up</h2>
        </header>
        <table className={shared.table}>
          <tbody>
            {value.setup.map((one) => (
              <tr key={one.name}>
                <th scope="row">{one.name}</th>
                <td>{one.value}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p className={shared.hint}>{value.confidence}</p>
    </>
  );
}

/** Whether each variant is better than the first one, in a sentence each. */
function Verdicts({ experiment }: { readonly experiment: Experiment }) {
  if (experiment.verdicts.length === 0) return null;
  return (
    <section aria-label="Verdicts">
      {experiment.verdicts.map(({ cell, text }) => (
        <p key={cell}>
          <strong>{text}</strong>
        </p>
      ))}
    </section>
  );
}

function State({ experiment }: { readonly experiment: Experiment }) {
  const { summary, least, most, deviation } = experiment;
  return (
    <div className={styles.state}>
      <progress
        className={styles.bar}
        max={summary.repeats + summary.least_left}
        value={summary.repeats}
        aria-label="Progress"
      />
      <p role="status">
        {summary.state}: {progressText(summary)}.
      </p>
      <p className={shared.hint}>
        {summary.workloads.join(" beside ")};{" "}
        {experiment.verdicts.length > 0
          ? "variants in random order, until their differences are known or the time is up."
          : `${least === most ? most : `${least} to ${most}`} repeats of each cell, until their standard deviation is at most ${numberText(100 * deviation)} % of their mean.`}
        {summary.state === "interrupted"
          ? " It was interrupted; tidscope experiment FILE --resume continues it."
          : ""}
      </p>
    </div>
  );
}

function Chart({
  chart,
  charts,
}: {
  readonly chart: ExperimentChart;
  /** All charts of the experiment. */
  readonly charts: readonly ExperimentChart[];
}) {
  const names = useMemo(() => seriesNames(charts), [charts]);
  const colours = CHART_THEMES[useStore(theme)];
  const axis = [chart.y_label === chart.title ? "" : chart.y_label, chart.unit]
    .filter((part) => part !== "")
    .join(", ");
  return (
    <section className={shared.panel} aria-label={chart.title}>
      <header className={shared.panelHead}>
        <h2>{chart.title}</h2>
        <span className={shared.hint}>{axis}</span>
      </header>
      <ul className={styles.legend}>
        {chart.series.map(({ name }, index) =>
          name === "" ? null : (
            <li key={name}>
              <span
                className={styles.key}
                style={{ background: seriesColour(chart, index, colours, names) }}
              />
              {name}
            </li>
          ),
        )}
      </ul>
      <ExperimentFigure chart={chart} names={names} theme={colours} height={CHART_PX} />
      {chart.note === "" ? null : <p className={shared.none}>{chart.note}</p>}
    </section>
  );
}

const GAINS = [
  { name: "throughput", title: "Throughput" },
  { name: "ops_per_cpu_s", title: "Operations per CPU second" },
  { name: "power_w", title: "Power" },
  { name: "ops_per_j", title: "Operations per watt" },
] as const;

/** Figure: share of the measured time that a policy searched. */
const SEARCHED = "searching_share";

function shareText(one: ExperimentCell["figures"][number] | undefined): string {
  const mean = one?.figure.mean ?? null;
  return mean === null ? "n/a" : `${numberText(Math.round(100 * mean))} %`;
}

/** Effect of a policy on throughput, and on operations per CPU time and energy. */
function AgainstDefault({ experiment }: { readonly experiment: Experiment }) {
  const compared = experiment.cells.filter(({ baseline }) => baseline !== null);
  if (compared.length === 0) return null;
  // A figure that no cell has would only be a column of unknowns.
  const known = GAINS.filter(({ name }) =>
    compared.some(({ figures }) => gainText(figures.find((one) => one.name === name)) !== ""),
  );
  const searches = compared.some(({ figures }) => figures.some(({ name }) => name === SEARCHED));
  const title =
    experiment.verdicts.length > 0 ? "Against the first variant" : "Against the default";
  return (
    <section
      className={`${shared.panel} ${shared.scroll} ${styles.wide} scroll-cue`}
      {...scrollable(title)}
    >
      <header className={shared.panelHead}>
        <h2>{title}</h2>
      </header>
      <table className={shared.table}>
        <thead>
          <tr>
            <th scope="col">Cell</th>
            {known.map(({ name, title }) => (
              <th key={name} scope="col">
                {title}
              </th>
            ))}
            {searches ? (
              <th scope="col" className={shared.number}>
                Searched, of the measured time
              </th>
            ) : null}
          </tr>
        </thead>
        <tbody>
          {compared.map(({ key, figures }) => (
            <tr key={key}>
              <th scope="row">{key}</th>
              {known.map(({ name }) => (
                <td key={name} className={styles.time}>
                  {gainText(figures.find((one) => one.name === name)) || "unknown"}
                </td>
              ))}
              {searches ? (
                <td className={shared.number}>
                  {shareText(figures.find((one) => one.name === SEARCHED))}
                </td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Cells({ experiment }: { readonly experiment: Experiment }) {
  const others = [
    ...new Map(
      experiment.cells.flatMap((cell) =>
        cell.figures
          .filter(({ name }) => name !== "throughput")
          .map(({ name, label, unit }) => [name, unit === "" ? label : `${label}, ${unit}`]),
      ),
    ),
  ];
  return (
    <section
      className={`${shared.panel} ${shared.scroll} ${styles.wide} scroll-cue`}
      aria-label="Cells"
    >
      <table className={shared.table}>
        <thead>
          <tr>
            <th scope="col">Cell</th>
            <th scope="col" className={shared.number}>
              {experiment.unit} a second
            </th>
            <th scope="col">Repeats</th>
            <th scope="col">Last runs</th>
            {others.map(([name, label]) => (
              <th key={name} scope="col" className={shared.number}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {experiment.cells.map((cell) => (
            <Cell key={cell.key} cell={cell} others={others.map(([name]) => name ?? "")} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Cell({
  cell,
  others,
}: {
  readonly cell: ExperimentCell;
  readonly others: readonly string[];
}) {
  const throughput = cell.figures.find(({ name }) => name === "throughput");
  const notes = [...cell.warnings, ...new Set(cell.failures.map((text) => `Failed: ${text}`))];
  return (
    <tr>
      <th scope="row">
        {cell.key}
        {notes.map((text) => (
          <div key={text} className={styles.note}>
            {text}
          </div>
        ))}
      </th>
      <td className={shared.number}>{figureText(throughput)}</td>
      <td className={styles.time}>
        {throughput?.figure.n ?? 0}, {cell.standing}
      </td>
      <td className={styles.time}>
        {cell.runs.slice(-SHOWN_RUNS).map((run, index) => (
          <PageLink key={run} className={styles.run} href={runHref(run)}>
            {Math.max(0, cell.runs.length - SHOWN_RUNS) + index + 1}
          </PageLink>
        ))}
      </td>
      {others.map((name) => (
        <td key={name} className={shared.number}>
          {figureText(cell.figures.find((one) => one.name === name))}
        </td>
      ))}
    </tr>
  );
}

function figureText(one: ExperimentCell["figures"][number] | undefined): string {
  if (one === undefined || one.figure.mean === null) return "n/a";
  const { mean, low, high } = one.figure;
  return meanText(mean, low, high);
}

/** The running repeat: the first of its programs in a few numbers. */
function LiveRepeat({ summary }: { readonly summary: ExperimentSummary }) {
  const client = useLiveClient();
  const live = useStore(client.live);
  const first = summary.targets[0] ?? null;
  useEffect(() => {
    client.follow(first);
    return () => client.follow(null);
  }, [client, first]);
  if (summary.cell === null) return null;
  const target = live?.targets.find(({ id }) => id === first);
  return (
    <section className={shared.panel} aria-label="The repeat that runs">
      <header className={shared.panelHead}>
        <h2>Now: {summary.cell}</h2>
        {summary.targets.map((id, index) => (
          <PageLink key={id} href={liveHref(id)}>
            watch {summary.targets.length > 1 ? (summary.workloads[index] ?? "it") : "it"} live
          </PageLink>
        ))}
      </header>
      <div className={styles.live}>
        {target === undefined ? (
          <p className={shared.hint}>Its programs are being started.</p>
        ) : (
          <Tiles target={target} />
        )}
      </div>
    </section>
  );
}
