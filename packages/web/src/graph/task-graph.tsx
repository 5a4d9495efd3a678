// The plan as a picture: tasks from left to right in the order of their dependencies.
import { ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react";
import { useEffect, useMemo, useRef } from "react";
import { DependencyEdge, type DependencyEdgeType } from "./dependency-edge.tsx";
import { layOut, NODE_HEIGHT, NODE_WIDTH, shapeKey, type Shape } from "./layout.ts";
import { TaskNode, type TaskNodeType } from "./task-node.tsx";
import type { Run } from "../../../tutti/src/schema/run.ts";
import type { Task } from "../../../tutti/src/schema/task.ts";

interface Properties {
  run: Run;
  opened: string | null;
  onOpen: (taskId: string) => void;
}

const NODE_TYPES = { task: TaskNode };
const EDGE_TYPES = { dependency: DependencyEdge };
const FIT = { padding: 0.06, maxZoom: 1, minZoom: 0.25 };

export function TaskGraph(properties: Properties) {
  return (
    <ReactFlowProvider>
      <Drawing {...properties} />
    </ReactFlowProvider>
  );
}

function Drawing({ run, opened, onOpen }: Properties) {
  // Keyed on the shape: the tasks themselves are new objects with every plan that is read.
  const key = shapeKey(run.tasks);
  const layout = useMemo(() => layOut((JSON.parse(key) as [string, string[]][]).map(toShape)), [key]);
  const frame = useRef<HTMLDivElement>(null);
  const { fitView } = useReactFlow();

  useEffect(() => {
    const observer = new ResizeObserver(() => void fitView(FIT));
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
    <div className="graph" ref={frame} style={{ height: Math.min(560, Math.max(200, layout.height + 56)) }}>
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

const toShape = ([id, dependencies]: [string, Task["dependencies"]]): Shape => ({ id, dependencies });
