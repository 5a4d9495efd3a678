import { ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react";
import { useEffect, useMemo, useRef, useState } from "react";
import { DependencyEdge, type DependencyEdgeType } from "./dependency-edge.tsx";
import { layOut, NODE_HEIGHT, NODE_WIDTH, shapeKey, type GraphLayout } from "./layout.ts";
import { TaskNode, type TaskNodeType } from "./task-node.tsx";
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
  const { fitView } = useReactFlow();

  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => {
      setWidth(entry!.contentRect.width);
      void fitView(FIT);
    });
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, [fitView, layout]);

  const byId = new Map(run.tasks.map((task) => [task.id, task]));
  const nodes = [...layout.nodes].map(([id, position]): TaskNodeType => ({
    id,
    type: "task",
    position,
    width: NODE_WIDTH,
    height: NODE_HEIGHT,
    data: { run, task: byId.get(id)!, opened: opened === id, open: () => onOpen(id) },
  }));
  const edges = layout.edges.map(({ from, to, points }): DependencyEdgeType => ({
    id: `${from} ${to}`,
    source: from,
    target: to,
    type: "dependency",
    data: { points, passed: run.workers[from]?.status === "completed" },
  }));

  return (
    <div className="graph" ref={frame} style={{ height: heightFor(layout, width) }}>
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
        minZoom={FIT.minZoom}
        maxZoom={1.5}
        fitView
        fitViewOptions={FIT}
        disableKeyboardA11y
      />
    </div>
  );
}

/** The height in pixels that the layout needs at `width`, within limits. */
function heightFor(layout: GraphLayout, width: number): number {
  const zoom = Math.min(1, (width - 2 * MARGIN) / layout.width);
  return Math.min(640, Math.max(160, Math.round(layout.height * zoom) + 2 * MARGIN + 8));
}
