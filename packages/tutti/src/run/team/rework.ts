// The loop between a review and the developer: `rework` adds a task that fixes the issues of a review that was not
// accepted, and another review of the result, up to `rejectionLimit` times. The tasks behind the review then wait for
// the new one.
import { dependenciesOf } from "../plan/dependencies-of.ts";
import { taskOf, workerOf } from "../lookup.ts";
import { isReview } from "./gate.ts";
import { extendPlan } from "./redelegate.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";
import { DEFAULT_REJECTION_LIMIT, isDeveloper } from "../../schema/team/roles.ts";

export const rejectionLimit = ({ template }: Run): number => template.team?.rejectionLimit ?? DEFAULT_REJECTION_LIMIT;

/** Returns nothing after `rejectionLimit` rounds, or if no developer worked on the reviewed code. */
export function rework(run: Run, review: Task, body: Record<string, unknown>, reasons: readonly string[]): RunEvent[] {
  const reviewed = dependenciesOf(run, review.id).map((id) => taskOf(run, id)!);
  const reviews = run.tasks.filter((task) => isReview(run, task) && task.delegation === undefined);
  const round = reviews.filter(({ id }) => workerOf(run, id)?.status === "completed").length + 1;
  const developer = reviewed.find(({ role }) => isDeveloper(run.template.roles, role));
  if (!developer || round > rejectionLimit(run)) return [];
  const fix: Task = {
    id: `${baseOf(developer.id)}_fix_${round}`,
    title: `Fix what the review found (${round})`,
    description: `Fix the issues of ${review.id}: ${reasons.join(" ")}`,
    scope: [],
    priority: developer.priority,
    dependencies: [review.id],
    role: developer.role,
    requirements: issuesOf(body, reasons),
    acceptanceCriteria: ["Every issue of the review is fixed."],
  };
  const isStep = run.template.pipeline?.some(({ id }) => id === review.id);
  const step = isStep ? review.id : review.id.replace(/_\d+$/, "");
  const again: Task = { ...review, id: `${step}_${round + 1}`, dependencies: [fix.id] };
  const tasks = run.tasks.map((task) => {
    const waits = task.dependencies.includes(review.id) && workerOf(run, task.id) === undefined;
    if (!waits) return task;
    return { ...task, dependencies: task.dependencies.map((id) => (id === review.id ? again.id : id)) };
  });
  return [extendPlan(run, tasks, [fix, again])];
}

const baseOf = (id: string): string => id.replace(/_fix_\d+$/, "");

const ISSUES = ["must_fix", "critical_issues", "high_issues", "medium_issues", "recommendations"];
const MOST_ISSUES = 50;

/** Returns `reasons` if the review lists no issues. */
function issuesOf({ output }: Record<string, unknown>, reasons: readonly string[]): string[] {
  const members = (typeof output === "object" && output !== null ? output : {}) as Record<string, unknown>;
  const issues = ISSUES.flatMap((name) => {
    const listed = members[name];
    return Array.isArray(listed) ? listed : [];
  });
  const texts = issues.map((issue) => (typeof issue === "string" ? issue : JSON.stringify(issue)));
  const found = texts.filter((text) => text.trim() !== "").slice(0, MOST_ISSUES);
  return found.length > 0 ? found : [...reasons];
}
