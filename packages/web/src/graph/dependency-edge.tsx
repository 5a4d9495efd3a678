import { BaseEdge, type Edge, type EdgeProps } from "@xyflow/react";
import { curve, type Point } from "./layout.ts";

export type DependencyEdgeType = Edge<{ points: Point[]; passed: boolean }, "dependency">;

/** A straight line would run behind other tasks, so the edge follows `data.points` of the layout. */
export function DependencyEdge({ id, data }: EdgeProps<DependencyEdgeType>) {
  return <BaseEdge id={id} path={curve(data?.points ?? [])} className={data?.passed ? "edge-passed" : "edge-open"} />;
}
