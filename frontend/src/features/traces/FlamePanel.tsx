import { useCallback, useMemo, useState } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { FlameGraph } from "../../chart/FlameGraph";
import { chainTo, matchesOf, namesTo, rowOf } from "../../chart/flame";
import { hueGround } from "../../chart/flamePalette";
import { CHART_THEMES } from "../../chart/palette";
import { counted } from "../../stream/format";
import { ColourKeys } from "../../ui/ColourKeys";
import { Button } from "../../ui/Controls";
import { Panel } from "../../ui/Panel";
import { type SortedColumn, SortedTable } from "../../ui/SortedTable";
import type { TraceTree } from "../../wire/generated/models";
import { FlameBar, FlameDetail } from "../flame/FlameBar";
import { nsColumn, numberColumn, partColumn, TraceLinks, tracesColumn } from "./Columns";
import { callTree, foundText, operationName, servicesOf, shareText, timeText } from "./callTree";
import { dotGraph, foldedStacks } from "./exports";
import type { AnalysisProps } from "./props";
import styles from "./TracesPage.module.css";

/** Critical paths as a flame graph. */
export function FlamePanel({ analysis, link, onLink }: AnalysisProps) {
  const colours = CHART_THEMES[useStore(theme)];
  const [pointed, setPointed] = useState<number | null>(null);
  const rows = analysis.tree;
  const tree = useMemo(() => callTree(rows, [rows.inclusive_ns]), [rows]);
  const services = useMemo(() => servicesOf(tree), [tree]);
  const zoom = rowOf(tree, link.zoom);
  const matches = useMemo(() => matchesOf(tree, link.search), [tree, link.search]);
  const onZoom = (row: number | null) => {
    onLink({ zoom: row === null ? [] : namesTo(tree, row) });
  };
  const nameAt = (row: number) => tree.name[row] ?? "";
  // Stable while the picture is: the canvas is drawn when it changes.
  const ground = useCallback(
    (row: number) => hueGround(services.indexOf(rows.name[row]?.service ?? ""), colours),
    [services, rows, colours],
  );
  const inWords = (row: number) => {
    const own = timeText(perTrace(rows.exclusive_ns, row, analysis.traces));
    return `${nameAt(row)}: ${figures(rows, row, analysis.traces, tree.total)}, itself ${own}`;
  };
  const shown = pointed ?? zoom;
  return (
    <Panel
      title="Critical paths"
      note="mean of a request; the widest call costs the most time"
      controls={
        <span className={styles.chips}>
          <Button
            title="For flamegraph.pl, inferno or speedscope"
            onClick={() => saveFile("critical-paths.folded", foldedStacks(rows))}
          >
            Save stacks
          </Button>
          <Button
            title="For Graphviz"
            onClick={() => saveFile("critical-paths.dot", dotGraph(rows, analysis.traces))}
          >
            Save graph
          </Button>
        </span>
      }
    >
      <div className={styles.body}>
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
          label="Flame graph of critical paths"
          tree={tree}
          theme={colours}
          zoom={zoom}
          onZoom={onZoom}
          onPoint={setPointed}
          matches={matches}
          fill={ground}
          inWords={inWords}
        />
        <FlameDetail hint="Click a call to zoom to it, or go through calls with the arrow keys.">
          {shown === null ? null : (
            <>
              <strong>{nameAt(shown)}</strong>: {figures(rows, shown, analysis.traces, tree.total)},
              itself {timeText(perTrace(rows.exclusive_ns, shown, analysis.traces))}; on the path of{" "}
              {counted(rows.count[shown] ?? 0, "request")}. Slowest in{" "}
              <TraceLinks traces={rows.exemplars[shown] ?? []} />.
            </>
          )}
        </FlameDetail>
        <ColourKeys
          label="Services"
          keys={services.map((text, at) => ({ text, ground: hueGround(at, colours) }))}
        />
        <details>
          <summary>As a table</summary>
          <CallTable tree={rows} traces={analysis.traces} total={tree.total} onPress={onZoom} />
        </details>
      </div>
    </Panel>
  );
}

function perTrace(sums: readonly number[], row: number, traces: number): number {
  return (sums[row] ?? 0) / Math.max(1, traces);
}

function figures(rows: TraceTree, row: number, traces: number, total: number): string {
  const share = shareText((rows.inclusive_ns[row] ?? 0) / Math.max(1, total));
  return `${timeText(perTrace(rows.inclusive_ns, row, traces))} (${share})`;
}

interface CallTableProps {
  readonly tree: TraceTree;
  readonly traces: number;
  readonly total: number;
  readonly onPress: (row: number) => void;
}

const keyOf = (row: number) => String(row);

/** The flame graph's data as a table. */
function CallTable({ tree, traces, total, onPress }: CallTableProps) {
  const at = (values: readonly number[]) => (row: number) => values[row] ?? 0;
  const nameAt = (row: number) => {
    const operation = tree.name[row];
    return operation === undefined ? "" : operationName(operation);
  };
  const depth = (row: number) => chainTo(tree, row).length - 1;
  const columns: readonly SortedColumn<number>[] = [
    {
      id: "name",
      label: "Call",
      text: true,
      value: nameAt,
      cell: nameAt,
    },
    numberColumn("depth", "Depth", depth),
    partColumn("share", "Share", (row) => (tree.inclusive_ns[row] ?? 0) / Math.max(1, total)),
    nsColumn("inclusive", "With calls", (row) => perTrace(tree.inclusive_ns, row, traces)),
    nsColumn("exclusive", "Itself", (row) => perTrace(tree.exclusive_ns, row, traces)),
    numberColumn("count", "Requests", at(tree.count)),
    tracesColumn((row) => tree.exemplars[row] ?? [], { label: "Slowest" }),
  ];
  return (
    <SortedTable
      label="Calls on critical paths"
      columns={columns}
      rows={[...tree.name.keys()]}
      keyOf={keyOf}
      sortedBy="exclusive"
      first={14}
      onPress={onPress}
    />
  );
}

/** Download a text as a file. */
function saveFile(name: string, text: string): void {
  const href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = document.createElement("a");
  link.href = href;
  link.download = name;
  link.click();
  URL.revokeObjectURL(href);
}
