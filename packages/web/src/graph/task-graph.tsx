import { translate } from "../text/language.ts";
import {
  MiniMap,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  useStore,
  type ReactFlowState,
  type Viewport,
} from "@xyflow/react";
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { DependencyEdge, type DependencyEdgeType } from "./dependency-edge.tsx";
import { groupStages, stagesOf, type GroupedPlan } from "./group-stages.ts";
import { layOut, NODE_HEIGHT, NODE_WIDTH, shapeKey, type GraphLayout } from "./layout.ts";
import { StageNode, TONES, type StageContent, type StageNodeType } from "./stage-node.tsx";
import { TaskNode, type NodeContent, type TaskNodeType } from "./task-node.tsx";
import { taskLook } from "../run/task-look.ts";
import { Icon } from "../parts/icon.tsx";
import { plural } from "../text/format.ts";
import type { Severity } from "../../../tutti/src/run/describe-event.ts";
import type { Run } from "../../../tutti/src/schema/run.ts";

interface Properties {
  run: Run;
  opened: string | null;
  onOpen: (taskId: string) => void;
}

const NODE_TYPES = { task: TaskNode, stage: StageNode };
const EDGE_TYPES = { dependency: DependencyEdge };
const MARGIN = 24;
/** Below the nodes, for the buttons. */
const FOOT = 48;
const PADDING = { x: `${MARGIN}px`, top: `${MARGIN}px`, bottom: `${FOOT}px` } as const;
const FIT = { padding: PADDING, maxZoom: 1, minZoom: 0.25 };
/** Below this zoom titles cannot be read, so the view starts with the tasks `atWork` instead of the whole plan. */
const READABLE = 0.6;
/** Plans with more than `LARGE` tasks are drawn by stage. */
const LARGE = 40;
const STEP = 80;
/** A press opens a task although the hand moves the pointer this far, in pixels. A longer way only moves the graph. */
const CLICK_DISTANCE = 6;
const NO_LINK = { hideAttribution: true };
/** Its own ones describe keys that delete nodes and edges. */
const NO_DESCRIPTIONS = { "node.a11yDescription.default": "", "edge.a11yDescription.default": "" };

export function TaskGraph(properties: Properties) {
  return (
    <ReactFlowProvider>
      <Drawing {...properties} />
    </ReactFlowProvider>
  );
}

function Drawing({ run, opened, onOpen }: Properties) {
  const isLarge = run.tasks.length > LARGE;
  const stages = isLarge ? run.parallelGroups : [];
  const atWork = run.tasks.filter((task) => isAtWork(taskLook(run, task).tone)).map(({ id }) => id);
  const [open, setOpen] = useState<ReadonlySet<number>>(
    () => new Set(stagesOf(stages, new Set(atWork)).filter((number) => stages[number - 1]!.length <= LARGE)),
  );
  const [isFollowing, setFollowing] = useState(false);
  const grouped = groupStages(run.tasks, stages, open);
  // `run.tasks` holds new objects after each plan event, so `useMemo` depends on `key`.
  const key = shapeKey(grouped.shapes);
  const layout = useMemo(
    () => layOut((JSON.parse(key) as [string, string[]][]).map(([id, dependencies]) => ({ id, dependencies }))),
    [key],
  );
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(800);
  const flow = useReactFlow();
  const latestOpen = useRef(onOpen);
  latestOpen.current = onOpen;
  const openTask = useCallback((id: string) => latestOpen.current(id), []);
  /**
   * The nodes that the next change of the layout or the size shows; null shows the tasks `atWork` or the whole plan.
   */
  const wanted = useRef<readonly string[] | null>(null);
  const toggleStage = useCallback(
    (number: number) => {
      wanted.current = stages[number - 1] ?? null;
      setOpen((now) => new Set(now.has(number) ? [...now].filter((each) => each !== number) : [...now, number]));
    },
    // `stages` change only with the plan, and so with `key`.
    [key],
  );
  const nodes = useNodes(run, opened, layout, grouped, openTask, toggleStage);
  const edges = useEdges(run, layout);

  const working = useRef<string[]>([]);
  working.current = atWork;
  const fit = useCallback(
    (wanted: readonly string[] = []) =>
      void flow.fitView({
        ...FIT,
        ...(wanted.length > 0 && { nodes: wanted.map((id) => ({ id })), minZoom: READABLE }),
      }),
    [flow],
  );
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(entry!.contentRect.width));
    observer.observe(frame.current!);
    return () => observer.disconnect();
  }, []);
  // `fitView` uses these sizes, which React Flow measures itself: before it has, the nodes would fit the last ones.
  const [shownWidth, shownHeight] = [useStore(widthOf), useStore(heightOf)];
  // A layout effect, so that a press on the new graph is not undone by it.
  useLayoutEffect(() => {
    const zoom = Math.min((shownWidth - 2 * MARGIN) / layout.width, (shownHeight - MARGIN - FOOT) / layout.height);
    const isReadable = zoom >= READABLE;
    const first = working.current.slice(0, 6);
    const view = wanted.current !== null || isReadable ? null : wholeHeight(layout, first, shownWidth, shownHeight);
    if (view) void flow.setViewport(view);
    else fit(wanted.current ?? (isReadable ? [] : first));
  }, [fit, layout, shownWidth, shownHeight]);

  const showAll = () => {
    wanted.current = [];
    fit();
  };
  const showWorking = () => {
    wanted.current = working.current;
    setOpen((now) => new Set([...now, ...stagesOf(stages, new Set(working.current))]));
    fit(working.current);
  };
  const followed = isFollowing ? atWork.join(" ") : "";
  useEffect(() => {
    if (followed !== "") showWorking();
  }, [followed]);

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
      "0": () => showAll(),
    };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    moves[event.key]!();
  };

  return (
    <div
      className="graph"
      ref={frame}
      style={{ height: heightFor(layout, width, atWork.length > 0) }}
      onKeyDown={onKey}
    >
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
        paneClickDistance={CLICK_DISTANCE}
        minZoom={0.1}
        maxZoom={1.5}
        fitView
        fitViewOptions={FIT}
        disableKeyboardA11y
        onlyRenderVisibleElements={nodes.length > LARGE}
        proOptions={NO_LINK}
        ariaLabelConfig={NO_DESCRIPTIONS}
      >
        {isLarge && <MiniMap className="mini-map" pannable ariaLabel={null} />}
      </ReactFlow>
      <div className="graph-buttons" role="group" aria-label={translate("View of the graph")}>
        <button
          type="button"
          className="button-icon"
          aria-label={translate("Zoom in")}
          onClick={() => void flow.zoomIn()}
        >
          <Icon name="plus" />
        </button>
        <button
          type="button"
          className="button-icon"
          aria-label={translate("Zoom out")}
          onClick={() => void flow.zoomOut()}
        >
          <Icon name="minus" />
        </button>
        <button type="button" className="button is-small" onClick={showAll}>
          {translate("Whole plan")}
        </button>
        {working.current.length > 0 && (
          <>
            <button type="button" className="button is-small" onClick={showWorking}>
              {translate("Tasks at work")}
            </button>
            <button
              type="button"
              className={`button is-small${isFollowing ? " is-chosen" : ""}`}
              aria-pressed={isFollowing}
              onClick={() => setFollowing(!isFollowing)}
            >
              {translate("Follow")}
            </button>
          </>
        )}
      </div>
      {stages.length > 0 && (
        <div className="graph-stages" role="group" aria-label={translate("Open stages")}>
          {stages.map((ids, index) => (
            <button
              // Stages of a plan never change their order, so `index` can be the key.
              key={index}
              type="button"
              className={`button is-small${open.has(index + 1) ? " is-chosen" : ""}`}
              aria-pressed={open.has(index + 1)}
              title={plural(ids.length, "task")}
              onClick={() => toggleStage(index + 1)}
            >
              {translate("Stage {number}", { number: index + 1 })}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

/** Unchanged nodes keep their objects, so that `TaskNode` and `StageNode` render only changes. */
function useNodes(
  run: Run,
  opened: string | null,
  layout: GraphLayout,
  { closed }: GroupedPlan,
  open: (id: string) => void,
  openStage: (number: number) => void,
): (TaskNodeType | StageNodeType)[] {
  const known = useRef(new Map<string, TaskNodeType | StageNodeType>());
  const tasks = new Map(run.tasks.map((task) => [task.id, task]));
  const nodes = [...layout.nodes].map(([id, position]): TaskNodeType | StageNodeType => {
    const last = known.current.get(id);
    const size = { width: NODE_WIDTH, height: NODE_HEIGHT };
    const stage = closed.get(id);
    if (stage) {
      const tones = stage.tasks.map((each) => taskLook(run, tasks.get(each)!).tone);
      const counts = Object.fromEntries(TONES.map((tone) => [tone, tones.filter((each) => each === tone).length]));
      const content = { ...counts, number: stage.number, size: tones.length, open: openStage } as StageContent;
      if (last?.type === "stage" && last.position === position && isSame(last.data, content)) return last;
      return { id, type: "stage", position, ...size, data: { ...content } };
    }
    const task = tasks.get(id)!;
    const worker = run.workers[id];
    const look = taskLook(run, task);
    const content: NodeContent = {
      ...look,
      id,
      title: task.title,
      progress: run.template.ui.showProgressBar ? (worker?.progress ?? 0) : 0,
      isIdle: worker === undefined,
      isOpen: opened === id,
      open,
    };
    if (last?.type === "task" && last.position === position && isSame(last.data, content)) return last;
    return { id, type: "task", position, ...size, data: { ...content } };
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
    const ariaLabel = translate("{to} after {from}", { from, to });
    return { id, source: from, target: to, type: "dependency", ariaLabel, data: { points, passed } };
  });
  known.current = new Map(edges.map((edge) => [edge.id, edge]));
  return edges;
}

const isAtWork = (tone: Severity): boolean => tone === "running" || tone === "you";

const widthOf = (state: ReactFlowState): number => state.width;
const heightOf = (state: ReactFlowState): number => state.height;

const isSame = (before: Record<string, unknown>, after: NodeContent | StageContent): boolean =>
  Object.entries(after).every(([name, value]) => before[name] === value);

/** The view of these tasks in which the whole height of the plan is `READABLE`; null if the frame is too low. */
function wholeHeight(layout: GraphLayout, tasks: readonly string[], width: number, height: number): Viewport | null {
  const lefts = tasks.flatMap((id) => layout.nodes.get(id)?.x ?? []);
  if (lefts.length === 0 || layout.height * READABLE > height - MARGIN - FOOT) return null;
  const middle = (Math.min(...lefts) + Math.max(...lefts) + NODE_WIDTH) / 2;
  const rightmost = width - MARGIN - layout.width * READABLE;
  return { x: Math.min(MARGIN, Math.max(rightmost, width / 2 - middle * READABLE)), y: MARGIN, zoom: READABLE };
}

/** In pixels, for a graph of `width`. Of tasks at work a narrow frame shows a `READABLE` part, with its whole height. */
function heightFor(layout: GraphLayout, width: number, isAtWork: boolean): number {
  const zoom = Math.min(1, Math.max(isAtWork ? READABLE : FIT.minZoom, (width - 2 * MARGIN) / layout.width));
  return Math.min(640, Math.max(200, Math.ceil(layout.height * zoom) + MARGIN + FOOT));
}
