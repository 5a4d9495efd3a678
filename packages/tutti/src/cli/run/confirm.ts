// `confirmOrder` confirms a plan, unchanged or with the changes of `--skip` and `--edit`.
import type { SendOrder, SteerFlags } from "./steer-commands.ts";
import type { Output } from "../terminal/output.ts";
import { isTerminal, prompt } from "../terminal/ask.ts";
import { describeMistake, readPlanChanges } from "../input/read-plan-changes.ts";
import { readFile } from "../input/read-file.ts";
import { TuttiError } from "../../schema/error.ts";
import { ChangedPlan } from "../../schema/plan-changes.ts";
import type { Run } from "../../schema/run.ts";

export async function confirmOrder({ edit, skip = [] }: SteerFlags): Promise<SendOrder> {
  const requested = withSkips(await readChanges(edit), skip);
  return async ({ runs, output, id, signal }) => {
    const mayStart = isTerminal(output) ? (question: string) => askYesNo(question, signal) : null;
    await runs.order(id, "confirm", await settleSkips(output, await runs.run(id), requested, mayStart));
  };
}

/** The file has the format of the body of `POST /api/orchestrator/:id/confirm-tasks`, and may contain comments. */
async function readChanges(file: string | undefined): Promise<ChangedPlan> {
  if (file === undefined) return ChangedPlan.parse({});
  const reading = readPlanChanges(await readFile(file));
  if ("changes" in reading) return reading.changes;
  const problems = reading.mistakes.map(describeMistake);
  throw new TuttiError(
    "invalid_input",
    `"${file}" has invalid plan changes: ${problems.join("; ")}. Correct the file and confirm again.`,
    { details: problems },
  );
}

export function withSkips(changes: ChangedPlan, skip: readonly string[]): ChangedPlan {
  const skipped = skip.map((id) => [id, { ...changes.modifications[id], skip: true }] as const);
  return { ...changes, modifications: { ...changes.modifications, ...Object.fromEntries(skipped) } };
}

/**
 * Sets `satisfied` of each skipped task that others depend on. `mayStart` asks whether these may start; without it they
 * are blocked.
 */
export async function settleSkips(
  output: Output,
  run: Run,
  changes: ChangedPlan,
  mayStart: ((question: string) => Promise<boolean>) | null,
): Promise<ChangedPlan> {
  const modifications = { ...changes.modifications };
  for (const [id, change] of Object.entries(changes.modifications)) {
    const dependents = change.skip && change.satisfied === undefined ? dependentsOf(run, changes, id) : [];
    if (dependents.length === 0) continue;
    const question = `${id} is skipped. These tasks depend on it: ${dependents.join(", ")}. Start them anyway? [y/n] `;
    const satisfied = mayStart !== null && (await mayStart(question));
    if (!satisfied) output.warn(`${dependents.join(", ")} will not start, because ${id} is skipped`);
    modifications[id] = { ...change, satisfied };
  }
  return { ...changes, modifications };
}

function dependentsOf(run: Run, { modifications, added, removed }: ChangedPlan, id: string): string[] {
  return [...run.tasks, ...added]
    .filter((task) => !removed.includes(task.id) && !modifications[task.id]?.skip)
    .filter((task) => (modifications[task.id]?.dependencies ?? task.dependencies).includes(id))
    .map((task) => task.id);
}

async function askYesNo(question: string, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const reply = (await prompt(question, signal)).trim().toLowerCase();
    if (["y", "yes", "n", "no"].includes(reply)) return reply.startsWith("y");
  }
}
