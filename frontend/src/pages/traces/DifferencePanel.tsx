import { useEffect, useMemo, useState } from "react";
import { compareTraces, listTraces } from "../../api/traces";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { FlameGraph } from "../../charts/FlameGraph";
import { changeGround } from "../../charts/traceColours";
import { counted } from "../../model/format";
import { callTree, matchesOf, nameAt, namesTo, rowOf } from "../../model/traces/callTree";
import { type OperationChange, operationChanges, ownChange } from "../../model/traces/changes";
import { changeSign, changeText, timeText } from "../../model/traces/text";
import { Button } from "../../ui/Button";
import { Panel } from "../../ui/Panel";
import { ProblemNotice } from "../../ui/ProblemNotice";
import type { TraceDifference, TraceSet } from "../../wire/generated/models";
import { CHART_THEMES } from "../live/scope/chartTheme";
import { SortedTable } from "../live/scope/facts/SortedTable";
import type { SortedColumn } from "../live/scope/facts/sortedColumn";
import { nsColumn, TraceLink, traceColumn } from "./Columns";
import { FlameBar } from "./FlameBar";
import { ALL_TRACES, differenceQuery, longestPause, requestsQuery, windowText } from "./link";
import type { LinkProps } from "./props";
import { SetControls } from "./SetControls";
import { timesText } from "./TimeSelect";
import styles from "./TracesPage.module.css";
import { useQuery } from "./useQuery";

/** What differs between two sets of requests. */
export function DifferencePanel({ link, onLink }: LinkProps) {
  const { base, other } = link;
  const { value, problem, loading, refresh } = useQuery(compareTraces, differenceQuery(link));
  const median = { ...ALL_TRACES, low: 40, high: 60 };
  const slowest = { ...ALL_TRACES, low: 97, high: 100 };
  useEffect(() => {
    // What most people want to know at first: what do the slowest ones do that others do not?
    if (base === null || other === null) onLink({ base: median, other: slowest }, "replace");
  });
  if (base === null || other === null) return null;
  return (
    <Panel
      title="Difference of critical paths"
      note="mean of a request; red ▲ grew, blue ▼ shrank"
      aria-busy={loading}
      controls={
        <span className={styles.chips}>
          <Button onClick={() => onLink({ base: median, other: slowest, zoom: [] })}>
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
            <SetControls set={base} onSet={(set) => onLink({ base: set, zoom: [] })} />
          </section>
          <section aria-label="After">
            <h3>After{value === null ? "" : `: ${setText(value.other)}`}</h3>
            <SetControls set={other} onSet={(set) => onLink({ other: set, zoom: [] })} />
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
            latency or attribute.
          </p>
        ) : (
          <Difference difference={value} link={link} onLink={onLink} />
        )}
      </div>
    </Panel>
  );
}

function setText({ traces, quantiles }: TraceSet): string {
  return `${counted(traces, "request")}, P50 ${timeText(quantiles.p50_ns)}`;
}

/** Before and after the longest time without a request: where two measurements meet. */
function PauseButton({ link, onLink }: LinkProps) {
  const query = requestsQuery({ ...link, ...ALL_TRACES, pid: null, tid: null }, "recent");
  const { value } = useQuery(listTraces, `${query}&limit=2000`);
  const pause = useMemo(
    () => longestPause((value?.traces ?? []).map(({ start_ns }) => start_ns)),
    [value],
  );
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

interface DifferenceProps extends LinkProps {
  readonly difference: TraceDifference;
}

function Difference({ difference, link, onLink }: DifferenceProps) {
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
  const inWords = (row: number) => {
    const at = (values: readonly number[]) => timeText(values[row] ?? 0);
    return (
      `${nameAt(tree, row)}: itself ${at(rows.base_exclusive_ns)} before, ` +
      `${at(rows.other_exclusive_ns)} after (${changeText(ownChange(rows, row))}); ` +
      `with its calls ${at(rows.base_inclusive_ns)} before, ${at(rows.other_inclusive_ns)} after`
    );
  };
  const shown = pointed ?? zoom;
  return (
    <>
      <Lead changes={changes} sets={[link.base ?? ALL_TRACES, link.other ?? ALL_TRACES]} />
      <FlameBar tree={tree} zoom={zoom} onZoom={onZoom} matches={matches} {...{ link, onLink }} />
      <FlameGraph
        label="Flame graph of the difference"
        tree={tree}
        zoom={zoom}
        onZoom={onZoom}
        onPoint={setPointed}
        matches={matches}
        fill={(row) => changeGround(ownChange(rows, row), most, colours)}
        sign={(row) => changeSign(ownChange(rows, row))}
        inWords={inWords}
      />
      <p className={styles.detail}>
        {shown === null ? (
          "As wide as the greater of both sets; coloured by the change of a call's own time."
        ) : (
          <>
            {inWords(shown)}. Slowest in request <TraceLink trace={rows.exemplar[shown] ?? ""} />.
          </>
        )}
      </p>
      <ul className={styles.legend} aria-label="Colours">
        {([most, 0, -most] as const).map((change, at) => (
          <li key={["grew", "same", "shrank"][at]}>
            <span
              className={styles.key}
              style={{ background: changeGround(change, most, colours) }}
            />
            {at === 1
              ? "no change"
              : `${at === 0 ? "grew by" : "shrank by"} up to ${timeText(most)}`}
          </li>
        ))}
      </ul>
      <div className={styles.table}>
        <Changes changes={changes} />
      </div>
    </>
  );
}

interface LeadProps {
  readonly changes: readonly OperationChange[];
  readonly sets: readonly [before: typeof ALL_TRACES, after: typeof ALL_TRACES];
}

/** The difference in a sentence. */
function Lead({ changes, sets: [before, after] }: LeadProps) {
  const [first] = changes;
  const what = `${timesText(before)}, ${windowText(before)} → ${timesText(after)}, ${windowText(after)}`;
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
      <p className={styles.hint}>{what}</p>
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
  traceColumn(({ exemplar }) => exemplar, { label: "Slowest" }),
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
