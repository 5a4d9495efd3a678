// Where the tasks of a plan stand. It depends on the shape of the plan alone, so that nothing that happens to a task
// moves it.
import { Graph, layout } from "@dagrejs/dagre";

export interface Shape {
  id: string;
  dependencies: readonly string[];
}
export interface Point {
  x: number;
  y: number;
}
export interface Layout {
  width: number;
  height: number;
  /** The upper left corner of each task. */
  nodes: ReadonlyMap<string, Point>;
  edges: { from: string; to: string; points: Point[] }[];
}

export const NODE_WIDTH = 216;
export const NODE_HEIGHT = 72;

/** The same for two plans that are drawn alike. */
export const shapeKey = (tasks: readonly Shape[]): string =>
  JSON.stringify(tasks.map(({ id, dependencies }) => [id, dependencies]));

export function layOut(tasks: readonly Shape[]): Layout {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 16, ranksep: 64, edgesep: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = new Set(tasks.map(({ id }) => id));
  for (const id of ids) graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { id, dependencies } of tasks) {
    // An unsound plan is drawn as far as it can be.
    for (const from of dependencies) if (ids.has(from) && from !== id) graph.setEdge(from, id);
  }
  layout(graph);
  const nodes = new Map([...ids].map((id) => [id, corner(graph.node(id) as Point)]));
  const edges = graph.edges().map(({ v: from, w: to }) => {
    const { points = [] } = graph.edge(from, to) as { points?: Point[] };
    return { from, to, points: throughSides(nodes.get(from)!, nodes.get(to)!, points) };
  });
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width, height, nodes, edges };
}

const corner = ({ x, y }: Point): Point => ({ x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 });

/** Out at the middle of the right side, through the bends that keep clear of other tasks, in at the middle of the left. */
function throughSides(from: Point, to: Point, points: readonly Point[]): Point[] {
  const start = { x: from.x + NODE_WIDTH, y: from.y + NODE_HEIGHT / 2 };
  const end = { x: to.x, y: to.y + NODE_HEIGHT / 2 };
  return [start, ...points.slice(1, -1).filter(({ x }) => x > start.x && x < end.x), end];
}

/** A line through all points, level at each of them. */
export function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  let last = first;
  let path = `M${first.x} ${first.y}`;
  for (const next of rest) {
    const middle = (last.x + next.x) / 2;
    path += `C${middle} ${last.y} ${middle} ${next.y} ${next.x} ${next.y}`;
    last = next;
  }
  return path;
}
