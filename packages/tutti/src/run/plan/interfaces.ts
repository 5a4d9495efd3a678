// Contracts between tasks: a plan names interfaces (`SharedInterface`) that several tasks share, each with the one task
// that may change its files. The work of another task that changes them is not merged before the user allows it.
import { addItem, answered } from "../inbox/inbox.ts";
import { FOREIGN_CHANGE_OPTIONS } from "./foreign-change-options.ts";
import { isInScope } from "./scopes.ts";
import { openWork } from "../fold/open-work.ts";
import { workerOf } from "../lookup.ts";
import type { TaskListAnswer } from "../../schema/answer.ts";
import type { RunEvent } from "../../schema/event.ts";
import type { InboxItem } from "../../schema/inbox.ts";
import type { Run } from "../../schema/run.ts";
import { sentence } from "../../sentence.ts";
import { SharedInterface, type Task } from "../../schema/task.ts";
import type { Worker } from "../../schema/worker.ts";

/** Maps each owner to its interfaces. One that no task of the plan owns is described in `dropped`. */
export function readInterfaces(answer: TaskListAnswer, dropped: string[]): Map<string, SharedInterface[]> {
  const owned = new Map<string, SharedInterface[]>(answer.tasks.map(({ id }) => [id, []]));
  const { interfaces: listed } = answer;
  if (listed === undefined || listed === null) return owned;
  for (const each of Array.isArray(listed) ? (listed as unknown[]) : [listed]) {
    const { owner } = (each ?? {}) as { owner?: unknown };
    const known = SharedInterface.safeParse(each);
    if (known.success && typeof owner === "string" && owned.has(owner)) owned.get(owner)!.push(known.data);
    else {
      const shown = JSON.stringify(each).slice(0, 120);
      dropped.push(
        sentence(
          "the interface {value} needs a name, files and the id of a task as its owner, so it counts for nothing",
          {
            value: shown,
          },
        ),
      );
    }
  }
  return owned;
}

interface OwnedInterface extends SharedInterface {
  owner: string;
}

/**
 * One list per plan: `run.tasks` is replaced as a whole, never mutated, so `interfacesByPlan` needs no invalidation.
 */
const interfacesByPlan = new WeakMap<readonly Task[], OwnedInterface[]>();

function interfacesOf({ tasks }: Run): OwnedInterface[] {
  let found = interfacesByPlan.get(tasks);
  if (!found) {
    found = tasks.flatMap(({ id: owner, interfaces = [] }) => interfaces.map((each) => ({ ...each, owner })));
    interfacesByPlan.set(tasks, found);
  }
  return found;
}

/** For the prompt of the worker of `taskId`. */
export function describeInterfaces(run: Run, taskId: string): string[] {
  const lines = interfacesOf(run).map(({ name, files, owner }) => {
    const about = `- ${name} (${files.join(", ")})`;
    if (owner === taskId) return `${about}: yours. Keep what the other tasks rely on, and describe it in your report.`;
    return `${about}: of task ${owner}. Do not change these files. If you need a change there, report it.`;
  });
  return lines.length === 0 ? [] : [`Interfaces that tasks share, each with one owner:\n${lines.join("\n")}`];
}

interface ForeignChange extends OwnedInterface {
  /** Files of the interface that the task changed. */
  changed: string[];
}

function foreignChanges(run: Run, { taskId, outputFiles }: Worker): ForeignChange[] {
  return interfacesOf(run).flatMap((each) => {
    if (each.owner === taskId) return [];
    const changed = outputFiles.filter((file) => isInScope(each.files, file));
    return changed.length === 0 ? [] : [{ ...each, changed }];
  });
}

/** Whether the work, and every task that builds on it, waits for the user's decision about a `foreignChange`. */
export const isHeldByInterface = (run: Run, worker: Worker): boolean =>
  interfacesOf(run).length > 0 && worker.foreignChange?.isAllowed !== true && foreignChanges(run, worker).length > 0;

/** Asks the user about accepted work that `isHeldByInterface`. */
export function raiseForeignChanges(run: Run, at: number): RunEvent[] {
  if (interfacesOf(run).length === 0) return [];
  return openWork(run)
    .unmerged.filter((worker) => worker.foreignChange === undefined && isHeldByInterface(run, worker))
    .flatMap((worker) => raiseForeignChange(run, worker, at));
}

const describeChange = ({ name, owner, changed }: ForeignChange): string =>
  sentence("{files} of the interface {name}, which belongs to task {taskId}", {
    files: changed.join(", "),
    name,
    taskId: owner,
  });

function raiseForeignChange(run: Run, worker: Worker, at: number): RunEvent[] {
  const { taskId, sessionId } = worker;
  const changes = foreignChanges(run, worker);
  const description = sentence("Task {taskId} changed {changes}.", {
    taskId,
    changes: changes.map(describeChange).join(", and "),
  });
  const evidence = {
    blocker_type: "interface",
    interfaces: changes.map(({ name, owner, changed: files }) => ({ name, owner, files })),
    commit: worker.commit,
  };
  const item = { kind: "blocker" as const, taskId, question: description, options: FOREIGN_CHANGE_OPTIONS, evidence };
  const added = addItem(run, { ...item, risk: "medium" }, at);
  const ids = { id: run.id, taskId, sessionId, itemId: added.data.item.id };
  const about = { description, blockerType: "interface", severity: "high", cause: "interface" as const };
  return [{ type: "blocker:raised", data: { ...ids, ...about } }, added];
}

export const isForeignChangeItem = (run: Run, { id, taskId }: InboxItem): boolean =>
  taskId !== null && workerOf(run, taskId)?.foreignChange?.itemId === id;

/**
 * The first of `FOREIGN_CHANGE_OPTIONS` merges the work. Otherwise the task starts again without it, and its next
 * attempt receives `decision`.
 */
export function answerForeignChange(run: Run, item: InboxItem, decision: string): RunEvent[] {
  const taskId = item.taskId!;
  const worker = workerOf(run, taskId)!;
  const data = { id: run.id, taskId, itemId: item.id, decision, by: "human" };
  const settled: RunEvent[] = [answered(run, item, decision), { type: "blocker:resolved", data }];
  if (decision === FOREIGN_CHANGE_OPTIONS[0]) return settled;
  const { sessionId, retryCount } = worker;
  const why = `Your last attempt was not merged, because it changed ${foreignChanges(run, worker).map(describeChange).join(", and ")}.`;
  const wish = decision === FOREIGN_CHANGE_OPTIONS[1] ? "Do the task without that change." : decision;
  return [
    ...settled,
    {
      type: "worker:retrying",
      data: { sessionId, orchestratorId: run.id, taskId, retryCount, automatic: false, notBefore: null },
    },
    { type: "message:sent", data: { id: run.id, taskId, text: `${why} ${wish}` } },
  ];
}
