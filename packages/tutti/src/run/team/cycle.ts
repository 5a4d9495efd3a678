// Continuous mode of a team that its lead plans: when all tasks have ended, the lead plans again, until it plans
// nothing. `breakCircuit` pauses the run if tasks keep failing in the same way.
import { pause } from "../lifecycle.ts";
import type { Plan } from "../plan/plan.ts";
import { extendPlan } from "./redelegate.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import type { Task } from "../../schema/task.ts";
import { DEFAULT_BREAKER } from "../../schema/team/roles.ts";

export const isContinuous = ({ template }: Run): boolean => template.team?.continuous === true;

/** Whether the main session plans further tasks in a run that `isContinuous`, not the first ones. */
export const isPlanningAgain = (run: Run): boolean => isContinuous(run) && run.tasks.length > 0;

/** The user confirmed the run with its first plan, so the tasks of a further cycle need no confirmation. */
export const planNextCycle = (run: Run, { tasks }: Plan): RunEvent =>
  extendPlan(run, run.tasks, renameTasks(run, tasks));

/** The lead may use the ids of earlier cycles again, so `freeName` adds a number. */
function renameTasks(run: Run, tasks: readonly Task[]): Task[] {
  const used = new Set(run.tasks.map(({ id }) => id));
  const taken = new Set([...used, ...tasks.map(({ id }) => id)]);
  const names = new Map(tasks.map(({ id }) => [id, used.has(id) ? freeName(id, taken, run.cycle ?? 1) : id]));
  return tasks.map((task) => ({
    ...task,
    id: names.get(task.id)!,
    dependencies: task.dependencies.map((id) => names.get(id) ?? id),
  }));
}

/** Returns `id` with the first free number from `number` on, and adds it to `taken`. */
function freeName(id: string, taken: Set<string>, number: number): string {
  const name = `${id}_${number}`;
  if (taken.has(name)) return freeName(id, taken, number + 1);
  taken.add(name);
  return name;
}

/** Pauses a continuous run after `breaker` failures of the same kind in a row. */
export function breakCircuit(run: Run): RunEvent[] {
  const { breaker = DEFAULT_BREAKER } = run.template.team ?? {};
  const { failures } = run;
  if (!isContinuous(run) || !failures || failures.count < breaker) return [];
  const { code, count, error } = failures;
  const reason = sentence("{count} tasks in a row failed in the same way ({code}): {error}", { count, code, error });
  return [{ type: "breaker:open", data: { id: run.id, code, count, reason } }, ...pause(run, "breaker", reason)];
}
