import { MiniMap, ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { DependencyEdge, type DependencyEdgeType } from "./dependency-edge.tsx";
import { layOut, NODE_HEIGHT, NODE_WIDTH, shapeKey, type GraphLayout } from "./layout.ts";
import { TaskNode, type NodeContent, type TaskNodeType } from "./task-node.tsx";
import { taskLook } from "../run/task-look.ts";
import { Icon } from "../parts/icon.tsx";
import type { Run } from "../../../tutti/src/schema/run.ts";

interface Properties {
  run: Run;
  opened: string | null;
  onOpen: (taskId: string) => void;
}

const NODE_TYPES = { task: TaskNode };
const EDGE_TYPES = { dependency: DependencyEdge };
const MARGIN = 24;
const FIT = { padding: `${MARGIN}px` as const, maxZoom: 1, minZoom: 0.25 };
/** Below this zoom titles cannot be read, so the view starts at the tasks at work instead of the whole plan. */
const READABLE = 0.6;
const LARGE = 40;
const STEP = 80;
const NO_LINK = { hideAttribution: true };

export function TaskGraph(properties: Properties) {
  return (
    <ReactFlowProvider>
      <Drawing {...properties} />
    </ReactFlowProvider>
  );
}

function Drawing({ run, opened, onOpen }: Properties) {
  // `run.tasks` holds new objects after each plan event, so memoize on `key`.
  const key = shapeKey(run.tasks);
  const layout = useMemo(
    () => layOut((JSON.parse(key) as [string, string[]][]).map(([id, dependencies]) => ({ id, dependencies }))),
    [key],
  );
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  const flow = useReactFlow();
  const latestOpen = useRef(onOpen);
  latestOpen.current = onOpen;
  const open = useCallback((id: string) => latestOpen.current(id), []);
  const nodes = useNodes(run, opened, layout, open);
  const edges = useEdges(run, layout);
  const isLarge = nodes.length > LARGE;

  const working = useRef<string[]>([]);
  working.current = nodes.filter(({ data }) => data.tone === "running" || data.tone === "you").map(({ id }) => id);
  const fit = useCallback(
    (wanted: readonly string[] = []) =>
      void flow.fitView({
        ...FIT,
        ...(wanted.length > 0 && { nodes: wanted.map((id) => ({ id })), minZoom: READABLE }),
      }),
    [flow],
  );
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      setWidth(entry!.contentRect.width);
      const isReadable = (entry!.contentRect.width - 2 * MARGIN) / layout.width >= READABLE;
      fit(isReadable ? [] : working.current.slice(0, 6));
    });
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, [fit, layout]);

  const pan = (x: number, y: number) => {
    const view = flow.getViewport();
    void flow.setViewport({ ...view, x: view.x + x, y: view.y + y });
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const moves: Record<string, () => unknown> = {
      ArrowLeft: () => pan(STEP, 0),
      ArrowRight: () => pan(-STEP, 0),
      ArrowUp: () => pan(0, STEP),
      ArrowDown: () => pan(0, -STEP),
      "+": () => flow.zoomIn(),
      "-": () => flow.zoomOut(),
      "0": () => fit(),
    };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    moves[event.key]!();
  };

  return (
    // The keys move the view of the buttons inside.
    <div className="graph" ref={frame} style={{ height: heightFor(layout, width) }} onKeyDown={onKey}>
      <ReactFlow
        nodes={nodes}
        edges={edges}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        zoomOnScroll={false}
        preventScrolling={false}
        zoomOnDoubleClick={false}
        minZoom={0.1}
        maxZoom={1.5}
        fitView
        fitViewOptions={FIT}
        disableKeyboardA11y
        onlyRenderVisibleElements={isLarge}
        proOptions={NO_LINK}
      >
        {isLarge && <MiniMap className="mini-map" pannable ariaLabel={null} />}
      </ReactFlow>
      <div className="graph-buttons" role="group" aria-label="View of the graph">
        <button type="button" className="button-icon" aria-label="Zoom in" onClick={() => void flow.zoomIn()}>
          <Icon name="plus" />
        </button>
        <button type="button" className="button-icon" aria-label="Zoom out" onClick={() => void flow.zoomOut()}>
          <Icon name="minus" />
        </button>
        <button type="button" className="button is-small" onClick={() => fit()}>
          Whole plan
        </button>
        {working.current.length > 0 && (
          <button type="button" className="button is-small" onClick={() => fit(working.current)}>
            Tasks at work
          </button>
        )}
      </div>
    </div>
  );
}

/** Keeps the object of every node whose content did not change, so that only the others are rendered. */
function useNodes(run: Run, opened: string | null, layout: GraphLayout, open: (id: string) => void): TaskNodeType[] {
  const known = useRef(new Map<string, TaskNodeType>());
  const tasks = new Map(run.tasks.map((task) => [task.id, task]));
  const nodes = [...layout.nodes].map(([id, position]): TaskNodeType => {
    const task = tasks.get(id)!;
    const worker = run.workers[id];
    const look = taskLook(run, task);
    const content: NodeContent = {
      ...look,
      id,
      title: task.title,
      progress: worker?.progress ?? 0,
      isIdle: worker === undefined,
      isOpen: opened === id,
      open,
    };
    const last = known.current.get(id);
    if (last?.position === position && isSame(last.data, content)) return last;
    return { id, type: "task", position, width: NODE_WIDTH, height: NODE_HEIGHT, data: { ...content } };
  });
  known.current = new Map(nodes.map((node) => [node.id, node]));
  return nodes;
}

function useEdges(run: Run, layout: GraphLayout): DependencyEdgeType[] {
  const known = useRef(new Map<string, DependencyEdgeType>());
  const edges = layout.edges.map(({ from, to, points }): DependencyEdgeType => {
    const id = `${from} ${to}`;
    const passed = run.workers[from]?.status === "completed";
    const last = known.current.get(id);
    if (last?.data?.points === points && last.data.passed === passed) return last;
    return { id, source: from, target: to, type: "dependency", data: { points, passed } };
  });
  known.current = new Map(edges.map((edge) => [edge.id, edge]));
  return edges;
}

const isSame = (before: Record<string, unknown>, after: NodeContent): boolean =>
  Object.entries(after).every(([name, value]) => before[name] === value);

/** The height in pixels that the layout needs at `width`, within limits. */
function heightFor(layout: GraphLayout, width: number): number {
  const zoom = Math.min(1, Math.max(FIT.minZoom, (width - 2 * MARGIN) / layout.width));
  return Math.min(640, Math.max(200, Math.round(layout.height * zoom) + 2 * MARGIN + 8));
}
