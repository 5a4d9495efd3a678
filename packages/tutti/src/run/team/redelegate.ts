// Changes of the plan by delegation: added tasks (`extendPlan`), and a new attempt at a task with answers or reasons
// for it (`redelegate`).
import { parallelGroups } from "../plan/graph.ts";
import { taskOf, workerOf } from "../lookup.ts";
import { textOf, type Body } from "./delegation.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";

export function extendPlan(run: Run, tasks: readonly Task[], added: readonly Task[]): RunEvent {
  const extended = [...tasks, ...added];
  const data = { added: added.map(({ id }) => id), tasks: extended, parallelGroups: parallelGroups(extended) };
  return { type: "plan:extended", data: { id: run.id, ...data } };
}

export function listOf(name: "requirements" | "acceptanceCriteria", value: unknown): Partial<Task> {
  const listed = Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
  return listed.length > 0 ? { [name]: listed } : {};
}

interface Redelegation {
  message?: Body | undefined;
  note?: string | undefined;
  isRejected?: boolean;
  isAnswer?: boolean;
  start?: string | undefined;
  /** The session that delegates it now. */
  session?: string | null;
}

/** The new attempt has the answers and results of the earlier ones in its `delegation`. */
export function redelegate(run: Run, taskId: string, change: Redelegation): RunEvent[] {
  const { message, note, isRejected = false, isAnswer = false, start, session } = change;
  const task = taskOf(run, taskId)!;
  const worker = workerOf(run, taskId);
  const before = task.delegation ?? { parent: null, session: null, message: {}, rejections: 0, notes: [], answers: 0 };
  const delegation = {
    ...before,
    ...(message ? { message } : {}),
    ...(start === undefined ? {} : { start }),
    ...(session === undefined ? {} : { session }),
    notes: note === undefined ? before.notes : [...before.notes, note],
    rejections: before.rejections + (isRejected ? 1 : 0),
    answers: before.answers + (isAnswer ? 1 : 0),
  };
  const { objective, constraintsAndRules, acceptanceCriteria } = message ?? {};
  const changed: Task = {
    ...task,
    ...(textOf(objective).trim() === "" ? {} : { description: textOf(objective) }),
    ...listOf("requirements", constraintsAndRules),
    ...listOf("acceptanceCriteria", acceptanceCriteria),
    delegation,
  };
  const tasks = run.tasks.map((each) => (each.id === taskId ? changed : each));
  const again: RunEvent = worker
    ? {
        type: "worker:redelegated",
        data: { sessionId: worker.sessionId, orchestratorId: run.id, taskId, reason: note ?? "" },
      }
    : { type: "task:unblocked", data: { id: run.id, taskId } };
  return [extendPlan(run, tasks, []), again];
}

/** For the next attempt. */
export const noteOf = (body: Body, answer: string): string =>
  `You asked: ${textOf(body["description"]) || textOf(body["summary"])}\nThe answer is: ${answer}`;
