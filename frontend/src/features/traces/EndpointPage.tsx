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
import { DaysPanel } from "./DaysPanel";
import { DifferencePanel } from "./DifferencePanel";
import { ErrorsPanel } from "./ErrorsPanel";
import { FlamePanel } from "./FlamePanel";
import { HeatPanel } from "./HeatPanel";
import { Histogram } from "./Histogram";
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
  days: "Days",
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
    case "days":
      return <DaysPanel {...props} />;
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

/** Number of traces by duration. */
function LatencyHistogram({ duration }: LatencyHistogramProps) {
  const { bounds_ns, counts } = duration.histogram;
  const marks = (["p50_ns", "p95_ns", "p99_ns"] as const).map((name) => ({
    name: name.slice(0, 3).toUpperCase(),
    value: duration[name],
  }));
  return (
    <Histogram
      caption="Latency histogram"
      of="Duration"
      counted="Requests"
      bounds={bounds_ns}
      counts={counts}
      text={timeText}
      marks={marks}
    />
  );
}
