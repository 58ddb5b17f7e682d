/**
 * Positions of the nodes of a graph. Placed nodes keep their position; only new ones are placed, by
 * forces (d3-force, which is deterministic), so that a live graph is stable.
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

/** Positions of a changing graph, kept while the plot has the same size. */
export class NodePlaces {
  private size: PlotSize = { width: 0, height: 0 };
  private readonly places = new Map<string, Place>();

  /** Positions of these nodes, including existing ones. */
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

const TICKS = 150;
/** Number of starting layouts to try; the most legible result is used. */
const TURNS = 12;
/** Clear space around a node, for edges and loops. */
const GAP_X = 22;
const GAP_Y = 34;
/** Minimum gap if space is scarce, and the step of the search for free positions. */
const MIN_GAP = 6;
const STEP_PX = 12;
const LINK_PX = 150;
const GOLDEN = Math.PI * (3 - Math.sqrt(5));

/**
 * Place nodes.
 * @param held Positions to keep; other nodes get a new one.
 * @returns A position for each node, within the plot.
 */
export function placeNodes(
  nodes: readonly GraphNode[],
  edges: readonly GraphEdge[],
  size: PlotSize,
  held: ReadonlyMap<string, Place>,
): ReadonlyMap<string, Place> {
  const fresh = nodes.some(({ key }) => !held.has(key));
  let best = bodiesOf(nodes, size, held, 0);
  if (fresh) {
    let least = Number.POSITIVE_INFINITY;
    for (let turn = 0; turn < TURNS; turn++) {
      const bodies = bodiesOf(nodes, size, held, turn);
      settle(bodies, edges, size);
      unstack(bodies, size);
      const cost = costOf(bodies, edges);
      if (cost < least) [best, least] = [bodies, cost];
    }
  }
  return new Map(best.map(({ key, x, y }) => [key, { x, y }]));
}

function bodiesOf(
  nodes: readonly GraphNode[],
  size: PlotSize,
  held: ReadonlyMap<string, Place>,
  turn: number,
): Body[] {
  const { width, height } = size;
  return nodes.map((node, i): Body => {
    const place = held.get(node.key);
    if (place) {
      const { x, y } = within(place, node, size);
      return { ...node, x, y, fx: x, fy: y, vx: 0, vy: 0 };
    }
    // On a spiral as wide as the plot: the first ones are near the centre.
    const part = Math.sqrt((i + 0.5) / Math.max(1, nodes.length));
    const angle = i * GOLDEN + (2 * Math.PI * turn) / TURNS;
    const x = width / 2 + 0.42 * width * part * Math.cos(angle);
    const y = height / 2 + 0.42 * height * part * Math.sin(angle);
    return { ...node, x, y, vx: 0, vy: 0 };
  });
}

/** Illegibility of a layout: edges behind nodes, crossing edges, long edges. */
function costOf(bodies: readonly Body[], edges: readonly GraphEdge[]): number {
  const at = new Map(bodies.map((body) => [body.key, body]));
  const lines = edges.flatMap(({ from, to }) => {
    const [a, b] = [at.get(from), at.get(to)];
    return a && b && a !== b ? [{ a, b }] : [];
  });
  let cost = 0;
  for (const [i, { a, b }] of lines.entries()) {
    cost += Math.hypot(a.x - b.x, a.y - b.y) / 400;
    for (const body of bodies) if (body !== a && body !== b && hits(a, b, body)) cost += 4;
    for (const other of lines.slice(i + 1)) if (cross(a, b, other.a, other.b)) cost += 1;
  }
  return cost;
}

/** Whether the line from a to b crosses a box. */
function hits(a: Place, b: Place, box: Body): boolean {
  for (let step = 1; step < 20; step++) {
    const x = a.x + ((b.x - a.x) * step) / 20;
    const y = a.y + ((b.y - a.y) * step) / 20;
    if (Math.abs(x - box.x) < box.width / 2 + 4 && Math.abs(y - box.y) < box.height / 2 + 4) {
      return true;
    }
  }
  return false;
}

function cross(a: Place, b: Place, c: Place, d: Place): boolean {
  if (a === c || a === d || b === c || b === d) return false;
  const side = (p: Place, q: Place, r: Place): number =>
    Math.sign((q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x));
  return side(a, b, c) !== side(a, b, d) && side(c, d, a) !== side(c, d, b);
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
  for (let pass = 0; pass < 40; pass++) {
    separate(bodies);
    keepWithin(bodies, size);
  }
}

/** Push overlapping nodes apart, along the shorter way. */
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

/** Move nodes that still overlap to the nearest free position, if any. */
function unstack(bodies: readonly Body[], size: PlotSize): void {
  for (const body of bodies) {
    const others = bodies.filter((other) => other !== body);
    const isFree = (place: Place): boolean =>
      others.every(
        (other) =>
          Math.abs(place.x - other.x) >= (body.width + other.width) / 2 + MIN_GAP ||
          Math.abs(place.y - other.y) >= (body.height + other.height) / 2 + MIN_GAP,
      );
    if (body.fx != null || isFree(body)) continue;
    let nearest = Number.POSITIVE_INFINITY;
    const from = { x: body.x, y: body.y };
    for (let x = 0; x <= size.width; x += STEP_PX) {
      for (let y = 0; y <= size.height; y += STEP_PX) {
        const place = within({ x, y }, body, size);
        const way = Math.hypot(place.x - from.x, place.y - from.y);
        if (way < nearest && isFree(place)) {
          nearest = way;
          Object.assign(body, place);
        }
      }
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
  // Space for a loop above the node.
  const top = node.height / 2 + 32;
  const bottom = node.height / 2 + 4;
  return {
    x: Math.max(mx, Math.min(width - mx, x)),
    y: Math.max(top, Math.min(height - bottom, y)),
  };
}
