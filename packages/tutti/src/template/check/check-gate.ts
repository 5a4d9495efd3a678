// A template that inherits from one with a security gate keeps it: it may add steps and roles and make the policies
// stricter.
import { DEFAULT_GATE, policyOf, type GatePolicy, type GateSettings } from "../../schema/team/gate.ts";
import { isAuditor, isDeployer, type PipelineStep } from "../../schema/team/roles.ts";
import type { Template } from "../../schema/template.ts";

type Team = Pick<Template, "roles" | "pipeline" | "gate">;

/** Returns a sentence for everything that makes the gate of `child` weaker than that of its `parent`. */
export function findWeakenings(parent: Team, child: Team): string[] {
  const isGuard = ({ role }: PipelineStep): boolean => isAuditor(parent.roles, role) || isDeployer(parent.roles, role);
  const guards = (parent.pipeline ?? []).filter(isGuard);
  if (!guards.some(({ role }) => isDeployer(parent.roles, role))) return [];
  const steps = guards.flatMap((step) => weakenedStep(step, parent, child));
  return [...steps, ...weakenedPolicies(parent.gate ?? DEFAULT_GATE, child.gate ?? DEFAULT_GATE)];
}

function weakenedStep(step: PipelineStep, parent: Team, { roles, pipeline = [] }: Team): string[] {
  const own = pipeline.find(({ id }) => id === step.id);
  const about = `"pipeline" must keep the step "${step.id}" of ${step.role}`;
  if (!own || own.role !== step.role || !roles || !Object.hasOwn(roles, step.role))
    return [`${about}, because the parent has a security gate.`];
  const has = (mine: readonly string[], all: readonly string[]): boolean => all.every((each) => mine.includes(each));
  const isKept =
    has(own.requirements, step.requirements) &&
    has(own.acceptanceCriteria, step.acceptanceCriteria) &&
    has(own.filesToReview ?? [], step.filesToReview ?? []);
  const before = stepsBefore(step, parent.pipeline ?? []).filter((id) => pipeline.some((each) => each.id === id));
  return [
    ...(isKept ? [] : [`${about} with all its requirements, criteria and files.`]),
    ...(has(stepsBefore(own, pipeline), before) ? [] : [`${about} after ${before.join(", ")}.`]),
  ];
}

/** The ids of all steps that end before `step` starts. */
function stepsBefore(step: PipelineStep, pipeline: readonly PipelineStep[]): string[] {
  const before = new Set(step.after);
  // Iterating over a `Set` includes the members added on the way.
  for (const id of before) for (const need of pipeline.find((each) => each.id === id)?.after ?? []) before.add(need);
  return [...before];
}

function weakenedPolicies(parent: GateSettings, child: GateSettings): string[] {
  const found = Object.keys(parent.environments).flatMap((name) =>
    weakened(name, policyOf(parent, name), policyOf(child, name)),
  );
  const isMoved = child.environment !== parent.environment;
  const target = isMoved
    ? weakened(child.environment, policyOf(parent, parent.environment), policyOf(child, child.environment))
    : [];
  return [...found, ...target];
}

/** Compares only the flags that `parent` states; `weakened` ignores the others. */
function weakened(name: string, parent: GatePolicy, child: GatePolicy): string[] {
  const path = `"gate.environments.${name}`;
  const flags = (["override", "conditional"] as const).filter((flag) => parent[flag] === false && child[flag] === true);
  const isLonger = parent.approvalTtl !== undefined && (child.approvalTtl ?? Infinity) > parent.approvalTtl;
  return [
    ...flags.map((flag) => `${path}.${flag}" must stay false, as in the parent.`),
    ...(isLonger ? [`${path}.approvalTtl" must be at most ${parent.approvalTtl}, as in the parent.`] : []),
  ];
}
