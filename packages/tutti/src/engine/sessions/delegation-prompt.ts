// The prompts of sessions that speak `delegation` (document 002). Each ends with one message (`fence`): the `new_task`
// of the session, or the report of a task that it delegated.
import { fence, list } from "./team-prompt.ts";
import { taskStanding } from "../../run/census.ts";
import { workerOf } from "../../run/lookup.ts";
import { childrenOf, hasDelegations, openChildren, reasonOf, returnedTo, textOf } from "../../run/team/delegation.ts";
import { leadOfRun, messageTo } from "../../run/team/team.ts";
import type { Run } from "../../schema/run.ts";
import { leadOf } from "../../schema/team/roles.ts";
import type { TeamMessage } from "../../schema/team/team-message.ts";
import type { Worker } from "../../schema/worker.ts";

const modesOf = ({ template: { roles = {} } }: Run): string =>
  Object.keys(roles)
    .filter((name) => name !== leadOf(roles))
    .join(", ");

const delegating = (run: Run): string =>
  `To delegate, write new_task messages: JSON objects with "taskId" (a new id), "delegatedToMode" (one of: ${modesOf(run)}), "objective", "context", "inputs", "expectedOutputs" (each with "type", "path" and "description"), "constraintsAndRules", "acceptanceCriteria" and "priority" (high, medium or low). Several in one answer run in parallel. Then end your turn: each result reaches you with a later turn. To use the result of a task in another one, wait for it first.`;

const REPORTING = `"result" is "success", "failure", "clarification_needed" or "conflict_detected"; "summary", "outputArtifacts" (each with "type", "path" and "description") and "issues_encountered" (each with "type", "description" and "suggestedResolution") say what you did and what stops you.`;

/** The last part of the prompt is the task of `worker`, or the report that `returnedTo` finds. */
export function renderModePrompt(run: Run, worker: Worker): string {
  const { taskId, task, sessionId } = worker;
  const rules = `You are the mode ${task.role}, one of a team of agents in Tutti.

Rules:
- Work only on your task, in the current folder, which is a git worktree of your own. Make no commits, switch no branches and push nothing.
- Answer with JSON objects in your text. Only these objects are read.
- When the task is done, or cannot be done, write an attempt_completion: "taskId" is ${JSON.stringify(taskId)}. ${REPORTING} All expected outputs must exist, and all acceptance criteria must be met.
- ${delegating(run)} Report your own task only after all of them have returned.`;
  const assignment = messageTo(run, sessionId)?.body ?? {};
  const returned = returnedTo(run, taskId);
  if (returned === null) {
    const earlier = outline(run, taskId);
    const known = earlier === "" ? [] : [`An earlier session delegated parts of this task:\n${earlier}`];
    return [rules, ...known, "This is your task. Do it now.", fence(assignment)].join("\n\n");
  }
  const own = `Your task is ${taskId}: ${task.description}`;
  return [rules, own, ...returnPart(run, taskId, returned)].join("\n\n");
}

/** The part of a worker's prompt about its own `delegation`, or about the tasks that it delegated with `new_task`. */
export function delegationNotes(run: Run, { taskId, task: { delegation } }: Worker): string[] {
  if (!hasDelegations(run)) return [];
  const { taskId: _, objective: __, delegatedToMode: mode, ...more } = delegation?.message ?? {};
  const members = { ...(mode === undefined ? {} : { mode }), ...more };
  const assignment = delegation
    ? ["Another agent delegated this task to you, and gets your result.", fence(members), ...delegation.notes]
    : [];
  const returned = returnedTo(run, taskId);
  if (returned !== null)
    return [...assignment, outlineOfTasks(run, taskId), howToContinue(run, returned), fence(bodyOf(run, returned))];
  const earlier = outline(run, taskId);
  return earlier === "" ? assignment : [...assignment, `An earlier session delegated parts of this task:\n${earlier}`];
}

function howToContinue(run: Run, { taskId }: TeamMessage): string {
  const isDone = workerOf(run, taskId)?.awaits?.kind === "verdict";
  const about = isDone
    ? `${taskId} is done, and the current folder contains its work. Check it.`
    : `${taskId} ended without a result.`;
  return `${about} If it has to be done again, call new_task with the taskId ${JSON.stringify(taskId)} and say in "context" what is wrong. Otherwise continue with your own task, and answer when it is complete. While other tasks of yours are open, your answer only accepts this one, and you are asked again. This is the report:`;
}

/** `outline` and the request are all that a new main session needs to continue. */
export function renderOrchestratorPrompt(run: Run): string {
  const lead = leadOfRun(run)!;
  const rules = `You are ${lead}, and lead a team of agents in Tutti. You do no work yourself: you delegate it, judge the results, and report when the request is done. Answer with JSON objects in your text. Only these objects are read.

- ${delegating(run)}
- When the request is done, or cannot be done, write an attempt_completion: "taskId" is ${JSON.stringify(run.id)}. ${REPORTING}`;
  const returned = returnedTo(run, null);
  if (returned === null) {
    const task = { taskId: run.id, delegatedToMode: lead, objective: run.userRequest };
    return [rules, "This is your task. Delegate it now.", fence(task)].join("\n\n");
  }
  return [rules, `The request of the user:\n${run.userRequest}`, ...returnPart(run, null, returned)].join("\n\n");
}

const outlineOfTasks = (run: Run, parent: string | null): string =>
  `The tasks that you delegated:\n${outline(run, parent)}`;

/**
 * Lists the tasks of `parent` with their results so far. `openChildren` count as open, whatever their sessions report.
 */
function outline(run: Run, parent: string | null): string {
  const open = new Set(openChildren(run, parent).map(({ id }) => id));
  return list(
    childrenOf(run, parent).map(({ id, role, title }) => {
      const standing = open.has(id) ? "open" : taskStanding(run, id);
      const summary = textOf(workerOf(run, id)?.summary);
      return `${id} (${role === undefined ? "" : `${role}, `}${standing}): ${title}${summary === "" ? "" : `. Result: ${summary}`}`;
    }),
  );
}

function returnPart(run: Run, parent: string | null, returned: TeamMessage): string[] {
  const { taskId, from } = returned;
  const worker = workerOf(run, taskId);
  const kind = worker?.awaits?.kind;
  const criteria = worker?.task.acceptanceCriteria ?? [];
  const ask =
    kind === "verdict"
      ? `${from} reports that ${taskId} is done. The current folder contains its work. Check every acceptance criterion yourself. If it is good, continue: delegate more tasks, or report; {"message_type": "TASK_APPROVAL", "task_id": ${JSON.stringify(taskId)}} accepts it while other tasks are open. Put "acceptanceCriteriaMet" (one boolean for each criterion) into your message. If it is not good enough, write a new_task with the same taskId, and say in "context" what is wrong.`
      : kind === "resolution"
        ? `${from} has a question about ${taskId}. If you can answer it, write a new_task with the same taskId and the answer in "context". If only the user can answer, write an attempt_completion with "result": "clarification_needed".`
        : `${taskId} of ${from} ended without a result. Delegate it again with a new_task with the same taskId, delegate another task, or report.`;
  const facts = [
    outlineOfTasks(run, parent),
    ...(kind === "verdict" && criteria.length > 0 ? [`Acceptance criteria of ${taskId}:\n${list(criteria)}`] : []),
    ...(kind === "verdict" ? [`Changed files: ${worker!.awaits!.work?.outputFiles.join(", ") || "none"}`] : []),
  ];
  return [...facts, ask, fence(bodyOf(run, returned))];
}

/** A task that ended after its report of a success has no result; `reasonOf` says why. */
function bodyOf(run: Run, { body, taskId }: TeamMessage): Record<string, unknown> {
  const isStillGood = workerOf(run, taskId)?.awaits || body["result"] !== "success";
  return isStillGood ? body : { ...body, result: "failure", summary: reasonOf(run, taskId) };
}
