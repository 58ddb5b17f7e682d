import { useCallback, useMemo, useState } from "react";
import { stackDifference } from "../../api/stacks";
import { usePolled } from "../../api/usePolled";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { FlameGraph } from "../../chart/FlameGraph";
import { matchesOf, namesTo, rowOf } from "../../chart/flame";
import { changeGround } from "../../chart/flamePalette";
import { CHART_THEMES } from "../../chart/palette";
import { counted, formatDuration } from "../../stream/format";
import { ColourKeys } from "../../ui/ColourKeys";
import { Button } from "../../ui/Controls";
import { ProblemNotice } from "../../ui/Notices";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { StackDifference, StackSelection } from "../../wire/generated/models";
import { Crumbs, FlameDetail, TipSentence } from "../flame/FlameBar";
import {
  type ChangeRow,
  certainChange,
  changeMark,
  changeRows,
  changeText,
  changeTip,
  type DifferenceTree,
  differenceTree,
  rateText,
} from "./differenceTree";
import { sourceText } from "./frames";
import type { Grouping } from "./regroup";
import styles from "./stacks.module.css";
import { FEW_SAMPLES, searchedText, shareText, timeText } from "./stackTree";

/** How a difference is drawn. */
export interface DifferenceStyle extends Grouping {
  readonly search: string;
  readonly upwards: boolean;
}

interface DifferencePanelProps {
  readonly title: string;
  /** Names of the two sides, for people. */
  readonly sides: readonly [before: string, after: string];
  /** Query of the backend, made at each request. */
  readonly query: () => string;
  /** Request period in ms; null requests once. */
  readonly periodMs: number | null;
  readonly style: DifferenceStyle;
}

/** Difference of two selections of stacks. */
export function DifferencePanel({ title, sides, query, periodMs, style }: DifferencePanelProps) {
  const load = useCallback((signal: AbortSignal) => stackDifference(query(), signal), [query]);
  const { value, problem, loading, refresh } = usePolled(load, periodMs);
  return (
    <Panel
      title={title}
      note="time a second of window; red ▲ grew, blue ▼ shrank, each only if its 95 % interval says so"
      aria-busy={loading && value === null}
      data-panel="stacks-difference"
    >
      {problem === null ? null : (
        <ProblemNotice problem={problem} actions={<Button onClick={refresh}>Try again</Button>} />
      )}
      {value === null ? (
        problem === null ? (
          <p className={styles.empty}>Comparing stacks…</p>
        ) : null
      ) : value.nodes.length === 0 ? (
        <p className={styles.empty} data-reason="">
          {value.reason || "Neither side has a known stack."}
        </p>
      ) : (
        <Difference label={title} sides={sides} answer={value} style={style} />
      )}
    </Panel>
  );
}

interface DifferenceProps extends Pick<DifferencePanelProps, "sides"> {
  readonly label: string;
  readonly answer: StackDifference;
  readonly style: DifferenceStyle;
}

function Difference({ label, sides, answer, style }: DifferenceProps) {
  const colours = CHART_THEMES[useStore(theme)];
  const [pointed, setPointed] = useState<number | null>(null);
  const [path, setPath] = useState<readonly string[]>([]);
  const { foldRecursion, hideRuntime, hideKernel, byModule, search, upwards } = style;
  const tree = useMemo(
    () => differenceTree(answer, { foldRecursion, hideRuntime, hideKernel, byModule }),
    [answer, foldRecursion, hideRuntime, hideKernel, byModule],
  );
  const zoom = rowOf(tree, path);
  const matches = useMemo(
    () =>
      matchesOf(tree, search, (row) => {
        const frame = tree.frame[row];
        return frame === undefined ? "" : searchedText(frame);
      }),
    [tree, search],
  );
  const most = useMemo(
    () => Math.max(0, ...tree.change.map((change) => Math.abs(certainChange(change)))),
    [tree],
  );
  // Stable while the picture is: the canvas is drawn when it changes.
  const fill = useCallback(
    (row: number) => {
      const change = tree.change[row];
      return changeGround(change === undefined ? 0 : certainChange(change), most, colours);
    },
    [tree, most, colours],
  );
  const sign = useCallback(
    (row: number) => {
      const change = tree.change[row];
      return change === undefined ? "" : changeMark(change);
    },
    [tree],
  );
  const onZoom = (row: number | null) => setPath(row === null ? [] : namesTo(tree, row));
  const shown = pointed ?? zoom;
  return (
    <div className={styles.body}>
      <Sides sides={sides} answer={answer} />
      <Crumbs tree={tree} zoom={zoom} onZoom={onZoom} />
      <FlameGraph
        label={label}
        tree={tree}
        theme={colours}
        zoom={zoom}
        onZoom={onZoom}
        onPoint={setPointed}
        matches={matches}
        fill={fill}
        sign={sign}
        inWords={(row) => changeTip(tree, row).join("; ")}
        tip={(row) => changeTip(tree, row)}
        upwards={upwards}
      />
      <FlameDetail hint="As wide as the greater of both sides.">
        {shown === null ? null : <TipSentence lines={changeTip(tree, shown)} />}
      </FlameDetail>
      <ColourKeys label="Colours" keys={changeKeys(most, colours)} />
      {answer.omitted_nodes === 0 ? null : (
        <p className="note">
          {counted(answer.omitted_nodes, "box", "boxes")} too narrow to draw: their time is in their
          callers.
        </p>
      )}
      <details>
        <summary>As a table</summary>
        <ChangeTable label={label} tree={tree} onPath={setPath} />
      </details>
    </div>
  );
}

function changeKeys(most: number, colours: Parameters<typeof changeGround>[2]) {
  const same = { text: "no certain change", ground: changeGround(0, most, colours) };
  if (most === 0) return [same];
  return [
    { text: `grew by up to ${rateText(most)}`, ground: changeGround(most, most, colours) },
    same,
    { text: `shrank by up to ${rateText(most)}`, ground: changeGround(-most, most, colours) },
  ];
}

/** Both selections in figures. */
function Sides({ sides, answer: { before, after } }: Omit<DifferenceProps, "label" | "style">) {
  return (
    <p className={styles.figures}>
      <span data-figure="before">
        <strong>Before</strong>: {sides[0]}, {sideText(before)}
      </span>
      <span data-figure="after">
        <strong>After</strong>: {sides[1]}, {sideText(after)}
      </span>
    </p>
  );
}

function sideText({ seconds, exact_ns, unseen_ns, samples }: StackSelection): string {
  const few = samples < FEW_SAMPLES ? " (few)" : "";
  // Time without a known stack on one side looks like growth on the other.
  const known = `${shareText(exact_ns - unseen_ns, exact_ns)} with a known stack`;
  return `${timeText(exact_ns)} in ${formatDuration(seconds)}, ${known}, ${counted(samples, "sample")}${few}`;
}

interface ChangeTableProps {
  readonly label: string;
  readonly tree: DifferenceTree;
  readonly onPath: (names: readonly string[]) => void;
}

const keyOf = ({ key }: ChangeRow) => key;

function rate(
  id: string,
  label: string,
  value: (row: ChangeRow) => number,
): SortedColumn<ChangeRow> {
  return { id, label, value, width: 7, cell: (row) => rateText(value(row)) };
}

const COLUMNS: readonly SortedColumn<ChangeRow>[] = [
  {
    ...{ id: "name", label: "Function", text: true, value: ({ frame }) => frame.function },
    cell: ({ frame }) => <span title={frame.function}>{frame.function}</span>,
  },
  {
    ...{ id: "source", label: "Where", text: true, width: 11 },
    value: ({ frame }) => sourceText(frame),
    cell: ({ frame }) => sourceText(frame),
  },
  rate("before", "Before", ({ before }) => before),
  rate("after", "After", ({ after }) => after),
  {
    ...{ id: "change", label: "Change, 95 % interval", width: 18 },
    value: (change) => Math.abs(certainChange(change)),
    cell: (change) => `${changeMark(change)} ${changeText(change)}`.trim(),
  },
];

/** The difference by function. */
function ChangeTable({ label, tree, onPath }: ChangeTableProps) {
  const rows = useMemo(() => changeRows(tree), [tree]);
  return (
    <SortedTable
      label={`Functions: ${label}`}
      columns={COLUMNS}
      rows={rows}
      keyOf={keyOf}
      sortedBy="change"
      first={14}
      onPress={({ path }) => onPath(path)}
    />
  );
}
