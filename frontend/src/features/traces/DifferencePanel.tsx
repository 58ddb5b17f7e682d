import { useCallback, useEffect, useMemo, useState } from "react";
import { compareTraces, listTraces } from "../../api/traces";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { FlameGraph } from "../../chart/FlameGraph";
import { matchesOf, namesTo, rowOf } from "../../chart/flame";
import { changeGround } from "../../chart/flamePalette";
import { CHART_THEMES } from "../../chart/palette";
import { counted } from "../../stream/format";
import { ColourKeys } from "../../ui/ColourKeys";
import { Button } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { RunSummary, TraceDifference, TraceSet } from "../../wire/generated/models";
import { FlameBar, FlameDetail } from "../flame/FlameBar";
import { nsColumn, TraceLinks, tracesColumn } from "./Columns";
import {
  callTree,
  changeSign,
  changeText,
  foundText,
  type OperationChange,
  operationChanges,
  ownChange,
  timeText,
} from "./callTree";
import {
  ALL_TRACES,
  AROUND_P50,
  AROUND_P99,
  differenceQuery,
  longestPause,
  OF_A_RUN,
  requestsQuery,
  type TraceSetLink,
  windowText,
} from "./link";
import { type AnalysisProps, type LinkProps, useQuery } from "./props";
import { SetControls, timesText } from "./SetControls";
import styles from "./TracesPage.module.css";

/** Differences between two sets of requests. */
export function DifferencePanel({ link, onLink, runs }: AnalysisProps) {
  const { base, other } = link;
  const { value, problem, loading, refresh } = useQuery(compareTraces, differenceQuery(link));
  useEffect(() => {
    // Initial comparison: requests around the median against the slowest ones.
    if (base === null || other === null) onLink({ base: AROUND_P50, other: AROUND_P99 }, "replace");
  });
  if (base === null || other === null) return null;
  return (
    <Panel
      title="Difference of critical paths"
      note="mean of a request; red ▲ grew, blue ▼ shrank"
      aria-busy={loading}
      controls={
        <span className={styles.chips}>
          <Button onClick={() => onLink({ base: AROUND_P50, other: AROUND_P99, zoom: [] })}>
            P50 and P99
          </Button>
          <PauseButton link={link} onLink={onLink} />
          <Button onClick={() => onLink({ base: other, other: base, zoom: [] })}>Swap</Button>
        </span>
      }
    >
      <div className={styles.body}>
        <div className={styles.sets}>
          <section aria-label="Before">
            <h3>Before{value === null ? "" : `: ${setText(value.base)}`}</h3>
            <SetControls set={base} runs={runs} onSet={(set) => onLink({ base: set, zoom: [] })} />
          </section>
          <section aria-label="After">
            <h3>After{value === null ? "" : `: ${setText(value.other)}`}</h3>
            <SetControls
              set={other}
              runs={runs}
              onSet={(set) => onLink({ other: set, zoom: [] })}
            />
          </section>
        </div>
        {problem === null ? null : (
          <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
        )}
        {value === null ? (
          problem === null ? (
            <p className={styles.hint}>Comparing…</p>
          ) : null
        ) : value.base.traces === 0 || value.other.traces === 0 ? (
          <p className={styles.hint}>
            {value.base.traces === 0 ? "Before" : "After"} has no requests: choose another time,
            run, latency or attribute. {base.run + other.run === "" ? "" : OF_A_RUN}
          </p>
        ) : (
          <Difference
            difference={value}
            sets={[setInWords(base, runs), setInWords(other, runs)]}
            link={link}
            onLink={onLink}
          />
        )}
      </div>
    </Panel>
  );
}

function setText({ traces, quantiles }: TraceSet): string {
  return `${counted(traces, "request")}, P50 ${timeText(quantiles.p50_ns)}`;
}

/** Split at the longest time without a request, where two measurements meet. */
function PauseButton({ link, onLink }: LinkProps) {
  const query = requestsQuery({ ...link, ...ALL_TRACES, pid: null, tid: null }, "recent");
  const { value } = useQuery(listTraces, `${query}&limit=2000`);
  const pause = useMemo(() => longestPause(value?.traces ?? []), [value]);
  if (pause === null) return null;
  const at_ms = Math.round(pause);
  return (
    <Button
      title={`Before and after the longest pause between requests: ${timesText({ since_ms: at_ms, until_ms: null })}`}
      onClick={() =>
        onLink({
          base: { ...ALL_TRACES, until_ms: at_ms },
          other: { ...ALL_TRACES, since_ms: at_ms },
          zoom: [],
        })
      }
    >
      Before and after the pause
    </Button>
  );
}

/** Description of a request set. */
function setInWords(set: TraceSetLink, runs: readonly RunSummary[]): string {
  const name = runs.find(({ id }) => id === set.run)?.name ?? set.run;
  const parts = [set.run === "" ? "" : `run ${name}`, timesText(set), windowText(set), set.tag];
  return parts.filter((text) => text !== "" && text !== "all times").join(", ");
}

interface DifferenceProps extends LinkProps {
  /** Descriptions of both sets, before and after. */
  readonly sets: readonly [before: string, after: string];
  readonly difference: TraceDifference;
}

function Difference({ difference, sets, link, onLink }: DifferenceProps) {
  const colours = CHART_THEMES[useStore(theme)];
  const [pointed, setPointed] = useState<number | null>(null);
  const rows = difference.tree;
  const tree = useMemo(
    () => callTree(rows, [rows.base_inclusive_ns, rows.other_inclusive_ns]),
    [rows],
  );
  const changes = useMemo(() => operationChanges(rows), [rows]);
  const most = useMemo(
    () => Math.max(0, ...rows.name.map((_, row) => Math.abs(ownChange(rows, row)))),
    [rows],
  );
  const zoom = rowOf(tree, link.zoom);
  const matches = useMemo(() => matchesOf(tree, link.search), [tree, link.search]);
  const onZoom = (row: number | null) => {
    onLink({ zoom: row === null ? [] : namesTo(tree, row) });
  };
  // Stable while the picture is: the canvas is drawn when it changes.
  const fill = useCallback(
    (row: number) => changeGround(ownChange(rows, row), most, colours),
    [rows, most, colours],
  );
  const sign = useCallback((row: number) => changeSign(ownChange(rows, row)), [rows]);
  const inWords = (row: number) => {
    const at = (values: readonly number[]) => timeText(values[row] ?? 0);
    return (
      `${tree.name[row]}: itself ${at(rows.base_exclusive_ns)} before, ` +
      `${at(rows.other_exclusive_ns)} after (${changeText(ownChange(rows, row))}); ` +
      `with its calls ${at(rows.base_inclusive_ns)} before, ${at(rows.other_inclusive_ns)} after`
    );
  };
  const shown = pointed ?? zoom;
  return (
    <>
      <Lead changes={changes} sets={sets} />
      <FlameBar
        label="Search calls"
        placeholder="Service or operation"
        tree={tree}
        zoom={zoom}
        onZoom={onZoom}
        search={link.search}
        onSearch={(search) => onLink({ search }, "replace")}
        found={foundText(matches)}
      />
      <FlameGraph
        label="Flame graph of the difference"
        tree={tree}
        theme={colours}
        zoom={zoom}
        onZoom={onZoom}
        onPoint={setPointed}
        matches={matches}
        fill={fill}
        sign={sign}
        inWords={inWords}
      />
      <FlameDetail hint="As wide as the greater of both sets; coloured by the change of a call's own time.">
        {shown === null ? null : (
          <>
            {inWords(shown)}. Slowest in <TraceLinks traces={rows.exemplars[shown] ?? []} />.
          </>
        )}
      </FlameDetail>
      <ColourKeys
        label="Colours"
        keys={changeKeys(most).map(({ change, text }) => ({
          text,
          ground: changeGround(change, most, colours),
        }))}
      />
      <div className={styles.table}>
        <Changes changes={changes} />
      </div>
    </>
  );
}

/** Meaning of the colours. */
function changeKeys(most: number) {
  const same = { change: 0, text: "no change" };
  if (most === 0) return [same];
  return [
    { change: most, text: `grew by up to ${timeText(most)}` },
    same,
    { change: -most, text: `shrank by up to ${timeText(most)}` },
  ];
}

interface LeadProps {
  readonly changes: readonly OperationChange[];
  readonly sets: DifferenceProps["sets"];
}

/** The difference in a sentence. */
function Lead({ changes, sets: [before, after] }: LeadProps) {
  const [first] = changes;
  return (
    <div>
      <p className={styles.lead} data-lead={first?.name}>
        {first === undefined || first.change_ns === 0 ? (
          "No operation changed."
        ) : (
          <>
            <strong>{first.name}</strong> {first.change_ns > 0 ? "grew" : "shrank"} most: from{" "}
            {timeText(first.base_ns)} to {timeText(first.other_ns)} of its own a request (
            {changeText(first.change_ns)}).
          </>
        )}
      </p>
      <p className={styles.hint}>
        {before} → {after}
      </p>
    </div>
  );
}

const keyOf = ({ name }: OperationChange) => name;
const COLUMNS: readonly SortedColumn<OperationChange>[] = [
  { id: "name", label: "Operation", text: true, value: keyOf, cell: keyOf },
  nsColumn("base", "Before", ({ base_ns }) => base_ns),
  nsColumn("other", "After", ({ other_ns }) => other_ns),
  {
    id: "change",
    label: "Change",
    value: ({ change_ns }) => Math.abs(change_ns),
    cell: ({ change_ns }) => changeSign(change_ns) || "±0",
    width: 8,
  },
  tracesColumn(({ exemplars }) => exemplars, { label: "Slowest" }),
];

/** The difference by operation. */
function Changes({ changes }: { readonly changes: readonly OperationChange[] }) {
  return (
    <SortedTable
      label="Changes"
      columns={COLUMNS}
      rows={changes}
      keyOf={keyOf}
      sortedBy="change"
      first={14}
    />
  );
}
