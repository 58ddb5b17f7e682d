/**
 * Places of the nodes of a graph. Nodes that have a place keep it: only new ones are placed, by forces
 * (d3-force, which is deterministic), so that a live graph stands still.
 */

import {
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
} from "d3-force";

export interface GraphNode {
  readonly key: string;
  readonly width: number;
  readonly height: number;
}

export interface GraphEdge {
  readonly from: string;
  readonly to: string;
}

/** Centre of a node, CSS pixels. */
export interface Place {
  readonly x: number;
  readonly y: number;
}

export interface PlotSize {
  readonly width: number;
  readonly height: number;
}

/** The places of a graph that changes: as long as the plot has its size, they stay. */
export class NodePlaces {
  private size: PlotSize = { width: 0, height: 0 };
  private readonly places = new Map<string, Place>();

  /** Places of these nodes, those that were there before included. */
  place(
    nodes: readonly GraphNode[],
    edges: readonly GraphEdge[],
    size: PlotSize,
  ): ReadonlyMap<string, Place> {
    if (size.width === 0) return new Map();
    if (size.width !== this.size.width || size.height !== this.size.height) this.places.clear();
    this.size = size;
    const placed = placeNodes(nodes, edges, size, this.places);
    for (const [key, place] of placed) this.places.set(key, place);
    return placed;
  }
}

interface Body extends SimulationNodeDatum, GraphNode {
  x: number;
  y: number;
  vx: number;
  vy: number;
}

const TICKS = 300;
/** Clear space around a node, for edges and loops. */
const GAP_X = 22;
const GAP_Y = 26;
const LINK_PX = 150;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/**
 * Place nodes.
 *
 * @param held Places that stay; a node that is not there gets a new one.
 * @returns A place for each node, all of it within the plot.
 */
export function placeNodes(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  { width, height }: PlotSize,
  held: ReadonlyMap<string, Place>,
): ReadonlyMap<string, Place> {
  const bodies = nodes.map((node, i): Body => {
    const place = held.get(node.key);
    if (place) {
      const { x, y } = within(place, node, { width, height });
      return { ...node, x, y, fx: x, fy: y, vx: 0, vy: 0 };
    }
    // On a spiral around the middle, as wide as the plot: the first ones are near the middle.
    const part = Math.sqrt((i + 0.5) / Math.max(1, nodes.length));
    const x = width / 2 + 0.42 * width * part * Math.cos(i * GOLDEN);
    const y = height / 2 + 0.42 * height * part * Math.sin(i * GOLDEN);
    return { ...node, x, y, vx: 0, vy: 0 };
  });
  if (bodies.some(({ fx }) => fx === undefined)) settle(bodies, edges, { width, height });
  return new Map(bodies.map(({ key, x, y }) => [key, { x, y }]));
}

function settle(bodies: Body[], edges: readonly GraphEdge[], size: PlotSize): void {
  const { width, height } = size;
  const keys = new Set(bodies.map(({ key }) => key));
  const links = edges
    .filter(({ from, to }) => from !== to && keys.has(from) && keys.has(to))
    .map(({ from, to }): SimulationLinkDatum<Body> => ({ source: from, target: to }));
  const simulation = forceSimulation(bodies)
    .force(
      "link",
      forceLink<Body, SimulationLinkDatum<Body>>(links)
        .id(({ key }) => key)
        .distance(LINK_PX)
        .strength(0.12),
    )
    .force("charge", forceManyBody().strength(-900))
    // Wide plots are filled in their width.
    .force("x", forceX(width / 2).strength(0.06 * Math.min(1, height / width)))
    .force("y", forceY(height / 2).strength(0.1))
    .stop();
  for (let tick = 0; tick < TICKS; tick++) {
    simulation.tick();
    separate(bodies);
    keepWithin(bodies, size);
  }
  for (let pass = 0; pass < 60; pass++) {
    separate(bodies);
    keepWithin(bodies, size);
  }
}

/** Push apart those that overlap, along the shorter way. */
function separate(bodies: readonly Body[]): void {
  for (const [i, a] of bodies.entries()) {
    for (const b of bodies.slice(i + 1)) {
      const over_x = (a.width + b.width) / 2 + GAP_X - Math.abs(a.x - b.x);
      const over_y = (a.height + b.height) / 2 + GAP_Y - Math.abs(a.y - b.y);
      if (over_x <= 0 || over_y <= 0) continue;
      const along = over_x < over_y ? "x" : "y";
      const sign = a[along] < b[along] || (a[along] === b[along] && i % 2 === 0) ? -1 : 1;
      const push = (along === "x" ? over_x : over_y) / 2;
      if (a.fx == null) a[along] += sign * push * (b.fx == null ? 1 : 2);
      if (b.fx == null) b[along] -= sign * push * (a.fx == null ? 1 : 2);
    }
  }
}

function keepWithin(bodies: readonly Body[], size: PlotSize): void {
  for (const body of bodies) {
    const { x, y } = within(body, body, size);
    body.x = x;
    body.y = y;
  }
}

function within({ x, y }: Place, node: GraphNode, { width, height }: PlotSize): Place {
  const mx = node.width / 2 + 4;
  // Above a node there is room for its loop.
  const top = node.height / 2 + 20;
  const bottom = node.height / 2 + 4;
  return {
    x: Math.max(mx, Math.min(width - mx, x)),
    y: Math.max(top, Math.min(height - bottom, y)),
  };
}
