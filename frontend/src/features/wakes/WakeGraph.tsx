import { type KeyboardEvent, useRef, useState } from "react";
import { type ChartTheme, colourStyle } from "../../chart/palette";
import { useResize } from "../../chart/useResize";
import { PARTY_WORDS } from "../../stream/facts/parties";
import { counted, formatValue } from "../../stream/format";
import type { WakeEdge, WakeNode, WakesView } from "../../stream/wakes";
import {
  edgePath,
  edgeWidth,
  NodeChoice,
  nodeBox,
  nodeName,
  placeLabels,
  roomFor,
} from "./graphEdges";
import { NodePlaces } from "./graphLayout";
import styles from "./WakeGraph.module.css";

/** Quantity shown by the width of an edge. */
export type EdgeMetric = "wakes" | "blocked";

export interface WakeGraphProps {
  readonly view: WakesView;
  readonly theme: ChartTheme;
  readonly metric: EdgeMetric;
  readonly height: number;
  readonly selected: string | null;
  /** Edge highlighted by the table. */
  readonly pointed: string | null;
  readonly onSelect: (node: WakeNode) => void;
}

/** Number of edges labelled with their value without a selection. */
const LABELS = 6;

/** Maximum number of edges, strongest first; all edges of a selected node are drawn. */
const EDGES = 28;

export function edgeValue(edge: WakeEdge, metric: EdgeMetric): number {
  return metric === "wakes" ? edge.per_s : edge.blocked;
}

/** Text of an edge's value by a metric. */
export function edgeText(edge: WakeEdge, metric: EdgeMetric): string {
  return metric === "wakes"
    ? formatValue(edge.per_s, "1/s")
    : `${formatValue(edge.blocked, "s")}/s`;
}

/** The wake-up graph: nodes stay in place, edge widths show values. The table has the same data. */
export function WakeGraph(props: WakeGraphProps) {
  const { view, theme, metric, height, selected, pointed, onSelect } = props;
  const root = useRef<HTMLElement>(null);
  const width = useResize(root);
  const [graph] = useState(() => ({ places: new NodePlaces(), choice: new NodeChoice() }));
  const nodes = graph.choice.choose(view.nodes, roomFor(width));
  const boxes = nodes.map((node) => nodeBox(node, width));
  const places = graph.places.place(boxes, view.edges, { width, height });
  const bodies = new Map(
    nodes.flatMap((node) => {
      const place = places.get(node.key);
      return place ? [[node.key, { ...nodeBox(node, width), ...place, node }] as const] : [];
    }),
  );
  const between = view.edges
    .filter(({ from, to }) => bodies.has(from) && bodies.has(to))
    .sort((a, b) => edgeValue(b, metric) - edgeValue(a, metric));
  const [strongest] = between;
  const most = strongest ? edgeValue(strongest, metric) : 0;
  const touches = ({ from, to }: WakeEdge) => from === selected || to === selected;
  const edges = between.filter(
    (edge, rank) => rank < EDGES || touches(edge) || edge.key === pointed,
  );
  const labelled = new Set(
    (selected === null ? edges.slice(0, LABELS) : edges.filter(touches)).map(({ key }) => key),
  );
  const drawn = edges.flatMap((edge) => {
    const from = bodies.get(edge.from);
    const to = bodies.get(edge.to);
    return from && to
      ? [{ edge, from, ...edgePath(from, to, bodies.values(), { width, height }) }]
      : [];
  });
  // In a separate order: changing values do not move labels.
  const labels = drawn
    .filter(({ edge }) => labelled.has(edge.key) || pointed === edge.key)
    .map(({ edge, places: free }) => ({
      ...{ key: edge.key, text: edgeText(edge, metric), places: free },
    }))
    .sort(
      (a, b) => Number(b.key === pointed) - Number(a.key === pointed) || (a.key < b.key ? -1 : 1),
    );
  const labelAt = placeLabels(labels, Array.from(bodies.values()), { width, height });
  const reachable = nodes.find(({ key }) => key === selected) ?? nodes[0];

  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Record<string, number> = {
      ArrowRight: 1,
      ArrowDown: 1,
      ArrowLeft: -1,
      ArrowUp: -1,
    };
    const step = steps[event.key];
    const buttons = [...(root.current?.querySelectorAll<HTMLElement>("button") ?? [])];
    const at = buttons.findIndex((each) => each.matches(":focus"));
    if (step === undefined || at < 0) return;
    event.preventDefault();
    buttons[(at + step + buttons.length) % buttons.length]?.focus();
  };

  return (
    <section
      ref={root}
      className={styles.graph}
      style={{ height }}
      onKeyDown={onKeyDown}
      aria-label="Wake-up graph"
    >
      <svg width={width} height={height} aria-hidden="true">
        <defs>
          <marker
            id="wake-arrow"
            viewBox="0 0 8 8"
            refX="2"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path d="M0,0.5L8,4L0,7.5Z" fill="context-stroke" />
          </marker>
        </defs>
        {drawn.map(({ edge, from, d }) => (
          <path
            key={edge.key}
            data-edge={edge.key}
            className={styles.edge}
            data-faded={
              pointed === null ? selected !== null && !touches(edge) : pointed !== edge.key
            }
            d={d}
            fill="none"
            stroke={nodeColour(from.node, theme)}
            strokeWidth={edgeWidth(edgeValue(edge, metric), most)}
            markerEnd="url(#wake-arrow)"
          />
        ))}
        {labels.map(({ key, text }) => {
          const at = labelAt.get(key);
          return at === undefined ? null : (
            <text key={key} x={at.x} y={at.y} className={styles.label}>
              {text}
            </text>
          );
        })}
      </svg>
      {Array.from(bodies.values(), ({ key, x, y, width: w, height: h, node }) => (
        <button
          key={key}
          type="button"
          className={styles.node}
          data-node={key}
          data-kind={node.kind}
          tabIndex={node === reachable ? 0 : -1}
          aria-pressed={key === selected}
          title={describeNode(node)}
          style={{
            left: x - w / 2,
            top: y - h / 2,
            width: w,
            height: h,
            borderColor: nodeColour(node, theme),
          }}
          onClick={() => onSelect(node)}
        >
          <span className={styles.name}>{nodeName(node, width)}</span>{" "}
          <span className={styles.under}>{underText(node)}</span>
        </button>
      ))}
      <More nodes={view.nodes.length - nodes.length} edges={between.length - edges.length} />
    </section>
  );
}

/** Number of undrawn nodes and edges. */
function More({ nodes, edges }: { readonly nodes: number; readonly edges: number }) {
  const parts = [
    nodes > 0 ? counted(nodes, "more node") : "",
    edges > 0 ? counted(edges, "weaker edge") : "",
  ].filter((part) => part !== "");
  return parts.length === 0 ? null : (
    <p className={styles.more}>Not drawn, but in the table: {parts.join(", ")}</p>
  );
}

function nodeColour({ colour }: WakeNode, theme: ChartTheme): string {
  return colour === null ? theme.muted : colourStyle(colour, theme).colour;
}

function underText({ kind, threads, colour }: WakeNode): string {
  if (kind === "interrupt") return "and timers";
  if (kind !== "role") return PARTY_WORDS[kind];
  return colour === null ? "" : `×${threads}`;
}

export function describeNode(node: WakeNode): string {
  const { name, kind, threads, gives_per_s, gets_per_s } = node;
  const what = kind === "role" ? `role, ${counted(threads, "thread")}` : PARTY_WORDS[kind];
  const gives = `wakes ${formatValue(gives_per_s, "1/s")}`;
  return `${name} (${what}): ${gives}, is woken ${formatValue(gets_per_s, "1/s")}`;
}
