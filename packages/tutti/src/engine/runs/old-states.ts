// `readOldStates` reads the state file of document 004's program (`orchestrators.json`). It contains states, not
// events, so each run gets a short log that ends as cancelled. `continueOldRun` gives a run that was at work another
// one, with which it can be resumed.
import { isRecord } from "../../protocol/json/json-value.ts";
import { textsOf } from "../../session/json-fields.ts";
import { apply, fold } from "../../run/apply.ts";
import type { Command } from "../../run/command.ts";
import { decide } from "../../run/decide.ts";
import { parallelGroups } from "../../run/plan/graph.ts";
import { checkPlan } from "../../run/plan/plan.ts";
import type { Answer } from "../../schema/answer.ts";
import { TuttiError } from "../../schema/error.ts";
import type { EventOf, RunEvent } from "../../schema/event.ts";
import { Task } from "../../schema/task.ts";
import { Template } from "../../schema/template.ts";
import type { NewEvent } from "../../store/store.ts";

type Data = Record<string, unknown>;

export interface OldRun {
  id: string;
  events: NewEvent[];
  /** Set if the run was at work, so that `continueOldRun` can continue it. */
  unfinished?: { analysis: Answer | null; plan: Answer | null; completed: string[] };
}

const OVER = new Set<unknown>(["completed", "error", "cancelled"]);
/** The agent of document 004's program, which its state file does not name. */
const OLD_AGENT = "claude";

const text = (value: unknown, otherwise: string): string =>
  typeof value === "string" && value !== "" ? value : otherwise;

/** Accepts a list of states, an object of states by id, or either of them under `orchestrators`. */
export function isOldFile(value: unknown): boolean {
  return statesIn(value).length > 0;
}

function statesIn(value: unknown): Data[] {
  const inner = isRecord(value) && value["orchestrators"] !== undefined ? value["orchestrators"] : value;
  const all = Array.isArray(inner) ? inner : isRecord(inner) ? Object.values(inner) : [];
  return all.filter((each): each is Data => isRecord(each) && typeof each["templateId"] === "string" && "cwd" in each);
}

/** `newId` replaces ids that are not valid. `fallback` replaces a template that cannot be read. */
export function readOldStates(value: unknown, fallback: Template, newId: () => string, now: number): OldRun[] {
  const states = statesIn(value);
  if (states.length === 0)
    throw new TuttiError(
      "invalid_input",
      "The file contains no orchestrator. Check that it is an orchestrators.json file.",
    );
  return states.map((state) => {
    const oldId = text(state["id"], "");
    const id = /^orch_[a-z0-9]{12}$/.test(oldId) ? oldId : newId();
    const events = eventsOf(id, state, fallback, now);
    return OVER.has(state["status"]) ? { id, events } : { id, events, unfinished: unfinishedOf(id, state) };
  });
}

function unfinishedOf(id: string, state: Data): NonNullable<OldRun["unfinished"]> {
  const [analysed] = analysisOf(id, state["analysis"]);
  const tasks = tasksIn(state["tasks"]);
  const workers = [state["workers"], state["workerStates"]].flatMap((each) =>
    isRecord(each) ? Object.values(each) : [],
  );
  const completed = workers.flatMap((worker) =>
    isRecord(worker) && worker["status"] === "completed" ? text(worker["taskId"], "") : [],
  );
  const { summary, recommendedSplits, keyFiles, components, warnings } = analysed?.data.analysis ?? {};
  const found = { key_files: keyFiles, components, warnings };
  return {
    analysis: summary
      ? { phase: "analysis", data: { summary, recommended_splits: recommendedSplits ?? 1, ...found } }
      : null,
    plan: tasks.length > 0 ? { phase: "task_list", data: { tasks } } : null,
    completed: completed.filter((taskId) => taskId !== ""),
  };
}

/**
 * Returns a log up to the phase that the run can continue with, from the commit `base`. Workers of an `unfinished` run
 * are not part of it: the old program kept their work nowhere but in the folder.
 */
export function continueOldRun({ events, unfinished }: OldRun, base: string, now: number): NewEvent[] {
  const { analysis, plan, completed } = unfinished!;
  const created = events[0]!;
  let run = fold(null, [{ ...created, runSeq: 1 }])!;
  const log = [created];
  const warnings =
    completed.length === 0
      ? []
      : [
          `These tasks were completed before the import: ${completed.join(", ")}. Skip them if the folder has their work.`,
        ];
  const take = (command: Command): void => {
    for (const event of decide(run, command, now)) {
      run = apply(run, { ...event, runSeq: run.runSeq + 1, timestamp: now });
      log.push({ ...event, timestamp: now });
    }
  };
  take({ type: "start", base, warnings });
  const isPlanned = run.template.phases.taskPlanning.enabled;
  if (analysis && isPlanned && run.owed?.phase === "analysis") take({ type: "respond", answer: analysis });
  if (plan && run.owed?.phase === "taskPlanning" && run.planErrors.length === 0) {
    try {
      take({ type: "respond", answer: plan });
    } catch (error) {
      // A session makes another plan if this one is not valid.
      if (!(error instanceof TuttiError)) throw error;
    }
  }
  return log;
}

function eventsOf(id: string, state: Data, fallback: Template, now: number): NewEvent[] {
  const at = timeOf(state["createdAt"]) ?? now;
  const end = timeOf(state["completedAt"]) ?? timeOf(state["updatedAt"]) ?? at;
  const parsed = Template.safeParse(state["template"]);
  const events: RunEvent[] = [
    {
      type: "orchestrator:created",
      data: {
        id,
        templateId: text(state["templateId"], fallback.id),
        cwd: text(state["cwd"], "/"),
        status: "created",
        template: parsed.success ? parsed.data : fallback,
        userRequest: text(state["userRequest"], "(not recorded)"),
        customVariables: isRecord(state["customVariables"]) ? state["customVariables"] : {},
        agent: (parsed.success ? parsed.data : fallback).config.agent ?? fallback.config.agent ?? OLD_AGENT,
      },
    },
    ...analysisOf(id, state["analysis"]),
    ...planOf(id, state["tasks"], parsed.success ? parsed.data : fallback),
    { type: "orchestrator:cancelled", data: { id, phase: null } },
    { type: "workspace:released", data: { id } },
  ];
  return events.map((event, i) => ({ ...event, timestamp: i === 0 ? at : end }));
}

function analysisOf(id: string, analysis: unknown): EventOf<"orchestrator:analysisComplete">[] {
  if (!isRecord(analysis)) return [];
  const splits = analysis["recommendedSplits"];
  return [
    {
      type: "orchestrator:analysisComplete",
      data: {
        id,
        analysis: {
          summary: text(analysis["summary"], ""),
          recommendedSplits: typeof splits === "number" ? splits : 0,
          keyFiles: textsOf(analysis["keyFiles"]),
          estimatedComplexity: text(analysis["estimatedComplexity"], "") || null,
          components: Array.isArray(analysis["components"]) ? analysis["components"] : [],
          notes: text(analysis["notes"], "") || null,
          warnings: textsOf(analysis["warnings"]),
        },
      },
    },
  ];
}

/** Leaves out each entry that is no valid `Task`. */
function tasksIn(value: unknown): Task[] {
  return (Array.isArray(value) ? value : []).flatMap((each) => {
    const parsed = isRecord(each)
      ? Task.safeParse({
          priority: 5,
          ...each,
          scope: textsOf(each["scope"]),
          dependencies: textsOf(each["dependencies"]),
        })
      : null;
    return parsed?.success ? [parsed.data] : [];
  });
}

/** An invalid plan is kept with its `errors`. */
function planOf(id: string, value: unknown, template: Template): RunEvent[] {
  const tasks = tasksIn(value);
  if (tasks.length === 0) return [];
  const { errors, warnings } = checkPlan(tasks, template);
  const groups = errors.length === 0 ? parallelGroups(tasks) : [];
  const data = { id, taskCount: tasks.length, parallelGroups: groups, tasks, errors, warnings, executionOrder: null };
  return [{ type: "orchestrator:tasksReady", data }];
}

function timeOf(value: unknown): number | null {
  const at = typeof value === "number" ? value : typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isFinite(at) ? at : null;
}
