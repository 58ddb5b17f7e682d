import { listRuns } from "../../api/runs";
import { analyseTraces } from "../../api/traces";
import { usePolled } from "../../api/usePolled";
import { counted } from "../../stream/format";
import { Button, Checkbox, PageLink, SegmentedControl } from "../../ui/Controls";
import { EmptyState, ProblemNotice } from "../../ui/Notices";
import { type Fact, FactList, Tooltip } from "../../ui/Overlays";
import { Panel } from "../../ui/Panel";
import type { RunSummary, TraceDurations } from "../../wire/generated/models";
import { timeText } from "./callTree";
import { DifferencePanel } from "./DifferencePanel";
import { ErrorsPanel } from "./ErrorsPanel";
import { FlamePanel } from "./FlamePanel";
import { HeatPanel } from "./HeatPanel";
import {
  ALL_TRACES,
  analysisQuery,
  EMPTY_TRACES,
  OF_A_RUN,
  setOf,
  TRACE_VIEWS,
  type TracesView,
  tracesHref,
  windowText,
} from "./link";
import { OperationsPanel } from "./OperationsPanel";
import { type AnalysisProps, type LinkProps, useQuery } from "./props";
import { RequestsPanel } from "./RequestsPanel";
import { SetControls } from "./SetControls";
import styles from "./TracesPage.module.css";

const VIEW_NAMES: Readonly<Record<TracesView, string>> = {
  flame: "Flame graph",
  difference: "Difference",
  heat: "Heat map",
  operations: "Operations",
  errors: "Errors",
  requests: "Requests",
};

const NO_RUNS: readonly RunSummary[] = [];

/** The requests of an endpoint, and what their critical paths consist of. */
export function EndpointPage(props: LinkProps) {
  const { link, onLink } = props;
  const { value, problem, loading, refresh } = useQuery(analyseTraces, analysisQuery(link));
  const runs = usePolled(listRuns, null).value?.runs ?? NO_RUNS;
  const { since_ms, until_ms, service, operation } = link;
  return (
    <section className={styles.page} aria-busy={loading}>
      <header className={styles.head}>
        <h1>
          <PageLink href={tracesHref({ ...EMPTY_TRACES, since_ms, until_ms })}>Traces</PageLink> ›{" "}
          <span className={styles.service}>{service}</span> {operation}
        </h1>
        <Button onClick={refresh}>Refresh</Button>
      </header>
      <SetControls set={link} runs={runs} onSet={(set) => onLink({ ...setOf(set), zoom: [] })} />
      <div className={styles.bar}>
        <Tooltip text="A trace may have several roots of this endpoint, such as requests that one client made: count each, not the first alone.">
          <Checkbox
            label="Count every root"
            checked={link.everyRoot}
            onChange={(everyRoot) => onLink({ everyRoot, zoom: [] })}
          />
        </Tooltip>
        {link.exclude.map((name) => (
          <Button
            key={name}
            title="Count it again"
            onClick={() => onLink({ exclude: link.exclude.filter((each) => each !== name) })}
          >
            without {name} ×
          </Button>
        ))}
      </div>
      {problem === null ? null : (
        <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
      )}
      {value === null ? (
        problem === null ? (
          <EmptyState title="Finding critical paths…" />
        ) : null
      ) : value.traces === 0 ? (
        <EmptyState title="No requests in this set">
          {link.run === "" ? null : <p>{OF_A_RUN}</p>}
          <Button onClick={() => onLink({ ...ALL_TRACES, zoom: [] })}>All requests</Button>
        </EmptyState>
      ) : (
        <>
          <Latency analysis={value} link={link} />
          <div className={styles.tabs}>
            <SegmentedControl
              label="View"
              value={link.view}
              choices={TRACE_VIEWS.map((view) => ({ value: view, label: VIEW_NAMES[view] }))}
              onChange={(view) => onLink({ view, search: "", zoom: [] })}
            />
          </div>
          <View analysis={value} runs={runs} link={link} onLink={onLink} />
        </>
      )}
    </section>
  );
}

function View(props: AnalysisProps) {
  switch (props.link.view) {
    case "flame":
      return <FlamePanel {...props} />;
    case "difference":
      return <DifferencePanel {...props} />;
    case "heat":
      return <HeatPanel {...props} />;
    case "operations":
      return <OperationsPanel {...props} />;
    case "errors":
      return <ErrorsPanel {...props} />;
    case "requests":
      return <RequestsPanel {...props} />;
  }
}

/** Distribution of request durations. */
function Latency({ analysis, link }: Pick<AnalysisProps, "analysis" | "link">) {
  const { traces, omitted, skewed, dropped, duration } = analysis;
  const facts: Fact[] = [
    ["Requests", counted(traces, "", "").trim(), null],
    ["P50", timeText(duration.p50_ns), null],
    ["P95", timeText(duration.p95_ns), null],
    ["P99", timeText(duration.p99_ns), null],
  ];
  if (skewed > 0) {
    const cut =
      "In so many requests clocks disagree: calls that reach beyond their caller are cut, and " +
      `those outside of it are left out (in ${counted(dropped, "request")}).`;
    facts.push(["Clock skew", counted(skewed, "request"), cut]);
  }
  if (omitted > 0) {
    facts.push(["Not analysed", counted(omitted, "request"), "More than one analysis holds."]);
  }
  return (
    <Panel title="Latency" note={windowText(link)}>
      <div className={styles.latency}>
        <LatencyHistogram duration={duration} />
        <FactList facts={facts} className={styles.facts} />
      </div>
    </Panel>
  );
}

interface LatencyHistogramProps {
  readonly duration: TraceDurations;
}

const HEIGHT = 72;

/** Position of a duration among the edges of equally wide bars; 0 to 1. */
function placeAmong(bounds_ns: readonly number[], ns: number): number {
  const bars = bounds_ns.length - 1;
  if (bars < 1) return 0;
  const above = bounds_ns.findIndex((bound) => bound > ns);
  if (above === 0) return 0;
  if (above < 0) return 1;
  const from = bounds_ns[above - 1] ?? 0;
  const to = bounds_ns[above] ?? from;
  return (above - 1 + (to > from ? (ns - from) / (to - from) : 0)) / bars;
}

/** Number of traces by duration; a table with the same data is read to screen readers. */
function LatencyHistogram({ duration }: LatencyHistogramProps) {
  const { bounds_ns, counts } = duration.histogram;
  const most = Math.max(1, ...counts);
  const width = 100 / Math.max(1, counts.length);
  const marks = (["p50_ns", "p95_ns", "p99_ns"] as const).map((name) => ({
    name: name.slice(0, 3).toUpperCase(),
    ns: duration[name],
    left: 100 * placeAmong(bounds_ns, duration[name]),
  }));
  const [first = 0] = bounds_ns;
  return (
    <figure className={styles.figure}>
      <svg
        viewBox={`0 0 100 ${HEIGHT}`}
        preserveAspectRatio="none"
        className={styles.bars}
        aria-hidden="true"
      >
        {counts.map((count, at) => {
          const height = count === 0 ? 0 : Math.max(1.5, (HEIGHT * count) / most);
          return (
            <rect
              key={bounds_ns[at]}
              x={at * width}
              width={Math.max(0.1, width - 0.15)}
              y={HEIGHT - height}
              height={height}
            />
          );
        })}
        {marks.map(({ name, left }) => (
          <line key={name} x1={left} x2={left} y1={0} y2={HEIGHT} data-mark={name} />
        ))}
      </svg>
      <div className={styles.axis} aria-hidden="true">
        <span>{timeText(first)}</span>
        <span>{timeText(bounds_ns.at(-1) ?? 0)}</span>
      </div>
      <table className="visually-hidden">
        <caption>Latency histogram</caption>
        <thead>
          <tr>
            <th scope="col">Duration</th>
            <th scope="col">Requests</th>
          </tr>
        </thead>
        <tbody>
          {counts.map((count, at) => (
            <tr key={bounds_ns[at]}>
              <th scope="row">
                {timeText(bounds_ns[at] ?? 0)} to {timeText(bounds_ns[at + 1] ?? 0)}
              </th>
              <td>{count}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
