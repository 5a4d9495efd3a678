// `layOut` depends only on ids and dependencies, so a change of status moves no task.
import { Graph, layout } from "@dagrejs/dagre";

export interface GraphShape {
  id: string;
  dependencies: readonly string[];
}
export interface Point {
  x: number;
  y: number;
}
export interface GraphLayout {
  width: number;
  height: number;
  nodes: ReadonlyMap<string, Point>;
  edges: { from: string; to: string; points: Point[] }[];
}

export const NODE_WIDTH = 188;
export const NODE_HEIGHT = 74;

/** Equal keys mean equal results of `layOut`. */
export const shapeKey = (tasks: readonly GraphShape[]): string =>
  JSON.stringify(tasks.map(({ id, dependencies }) => [id, dependencies]));

export function layOut(tasks: readonly GraphShape[]): GraphLayout {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 16, ranksep: 40, edgesep: 12 });
  graph.setDefaultEdgeLabel(() => ({}));
  const ids = new Set(tasks.map(({ id }) => id));
  for (const id of ids) graph.setNode(id, { width: NODE_WIDTH, height: NODE_HEIGHT });
  for (const { id, dependencies } of tasks) {
    // An invalid plan may name unknown tasks or the task itself; only the rest is drawn.
    for (const from of dependencies) if (ids.has(from) && from !== id) graph.setEdge(from, id);
  }
  layout(graph);
  const nodes = new Map([...ids].map((id) => [id, corner(graph.node(id) as Point)]));
  const columns = [...new Set([...nodes.values()].map(({ x }) => x))];
  const edges = graph.edges().map(({ v: from, w: to }: { v: string; w: string }) => {
    const { points = [] } = graph.edge(from, to) as { points?: Point[] };
    return { from, to, points: route(nodes.get(from)!, nodes.get(to)!, points, columns) };
  });
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return { width, height, nodes, edges };
}

const corner = ({ x, y }: Point): Point => ({ x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 });

/**
 * Leads an edge from the middle of the right side of `from` to the middle of the left side of `to`. In each of the
 * `columns` between them the edge runs level through the gap that dagre found. dagre's bends between the columns are
 * dropped.
 */
function route(from: Point, to: Point, points: readonly Point[], columns: readonly number[]): Point[] {
  const start = { x: from.x + NODE_WIDTH, y: from.y + NODE_HEIGHT / 2 };
  const end = { x: to.x, y: to.y + NODE_HEIGHT / 2 };
  const passes = columns.filter((x) => x > start.x && x + NODE_WIDTH < end.x).sort((a, b) => a - b);
  const through = passes.flatMap((x) => {
    const bend = points.find((point) => point.x >= x && point.x <= x + NODE_WIDTH);
    return bend
      ? [
          { x, y: bend.y },
          { x: x + NODE_WIDTH, y: bend.y },
        ]
      : [];
  });
  return [start, ...through, end];
}

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
