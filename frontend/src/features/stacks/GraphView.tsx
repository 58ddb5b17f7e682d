import { useCallback, useMemo, useState } from "react";
import { theme } from "../../base/theme";
import { useStore } from "../../base/useStore";
import { FlameGraph } from "../../chart/FlameGraph";
import { type Matches, matchesOf, namesTo, rowOf } from "../../chart/flame";
import { kindGround, plainGround } from "../../chart/flamePalette";
import { CHART_THEMES, type ChartTheme } from "../../chart/palette";
import { counted } from "../../stream/format";
import { ColourKeys } from "../../ui/ColourKeys";
import type { StackGraph, StackSide } from "../../wire/generated/models";
import { Crumbs, FlameDetail, TipSentence } from "../flame/FlameBar";
import { countsText } from "./counts";
import { FunctionTable } from "./FunctionTable";
import { kindName } from "./frames";
import type { StacksLink } from "./link";
import styles from "./stacks.module.css";
import {
  FEW_SAMPLES,
  type StackTree,
  searchedText,
  sentenceOf,
  shareText,
  stackTree,
  timeText,
  tipOf,
} from "./stackTree";

interface GraphViewProps {
  readonly label: string;
  readonly graph: StackGraph;
  readonly link: StacksLink;
  /** Side whose zoom the link holds for this graph. */
  readonly side: StackSide;
  readonly onLink: (part: Partial<StacksLink>, how?: "push" | "replace") => void;
}

/** A flame graph with its figures, details and table. */
export function GraphView({ label, graph, link, side, onLink }: GraphViewProps) {
  const colours = CHART_THEMES[useStore(theme)];
  const [pointed, setPointed] = useState<number | null>(null);
  const { foldRecursion, hideRuntime, hideKernel, byModule } = link;
  const tree = useMemo(
    () => stackTree(graph, { foldRecursion, hideRuntime, hideKernel, byModule }),
    [graph, foldRecursion, hideRuntime, hideKernel, byModule],
  );
  const path = link.zoom[side];
  const zoom = rowOf(tree, path);
  const matches = useMemo(
    () =>
      matchesOf(tree, link.search, (row) => {
        const frame = tree.frame[row];
        return frame === undefined ? "" : searchedText(frame);
      }),
    [tree, link.search],
  );
  const zoomTo = (names: readonly string[]) => onLink({ zoom: { ...link.zoom, [side]: names } });
  const onZoom = (row: number | null) => zoomTo(row === null ? [] : namesTo(tree, row));
  // Stable while the picture is: the canvas is drawn when it changes.
  const fill = useCallback(
    (row: number) =>
      row === tree.unseen
        ? plainGround(colours)
        : kindGround(tree.frame[row]?.kind ?? "unknown", colours),
    [tree, colours],
  );
  const hatched = useCallback((row: number) => row === tree.unseen, [tree]);
  const exact_ns = graph.exact_ns;
  const shown = pointed ?? zoom;
  return (
    <div className={styles.body}>
      <Figures graph={graph} matches={matches} />
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
        hatched={hatched}
        inWords={(row) => sentenceOf(tree, row, exact_ns)}
        tip={(row) => tipOf(tree, row, exact_ns)}
        upwards={link.upwards}
      />
      <FlameDetail>
        {shown === null ? null : <TipSentence lines={tipOf(tree, shown, exact_ns)} />}
      </FlameDetail>
      <ColourKeys label="Kinds of frames" keys={kindKeys(tree, colours)} />
      <Omitted graph={graph} />
      <details>
        <summary>As a table</summary>
        <FunctionTable tree={tree} exact_ns={exact_ns} label={label} onPath={zoomTo} />
      </details>
    </div>
  );
}

interface FiguresProps {
  readonly graph: StackGraph;
  readonly matches: Matches | null;
}

/** Figures of the graph, and the matches of a search. */
function Figures({ graph, matches }: FiguresProps) {
  const { exact_ns, unseen_ns, samples } = graph;
  return (
    <p className={styles.figures}>
      <span data-figure="exact">
        <strong>{timeText(exact_ns)}</strong> by the ledger
      </span>
      <span data-figure="known">
        {shareText(exact_ns - unseen_ns, exact_ns)} with a known stack
      </span>
      <span data-figure="samples" className={samples < FEW_SAMPLES ? styles.few : ""}>
        {counted(samples, "sample")}
        {samples < FEW_SAMPLES ? ": too few for more than a first impression" : ""}
      </span>
      {matches === null ? null : (
        <span role="status" data-figure="found">
          {matches.rows.size === 0
            ? "nothing matches"
            : `${timeText(matches.weight)} (${shareText(matches.weight, exact_ns)}) matches`}
        </span>
      )}
    </p>
  );
}

function kindKeys(tree: StackTree, colours: ChartTheme) {
  const kinds = new Set(tree.frame.flatMap(({ kind }, row) => (row === tree.unseen ? [] : [kind])));
  return [...kinds]
    .sort()
    .map((kind) => ({ text: kindName(kind), ground: kindGround(kind, colours) }));
}

/** Omissions of the graph, and losses of stacks on the host. */
function Omitted({ graph: { omitted_nodes, counts, side } }: { readonly graph: StackGraph }) {
  const texts = [
    ...(omitted_nodes > 0
      ? [
          `${counted(omitted_nodes, "box", "boxes")} too narrow to draw: their time is in their callers.`,
        ]
      : []),
    // Counts are of the host: once is enough.
    side === "threads" ? countsText(counts) : "",
  ].filter((text) => text !== "");
  return texts.length === 0 ? null : (
    <p className="note" data-omitted="">
      {texts.join(" ")}
    </p>
  );
}
