// `tutti confirm`: confirms a plan, unchanged or with the changes of `--skip` and `--edit`.
import type { SendOrder, SteerFlags } from "./steer-commands.ts";
import type { Output } from "../terminal/output.ts";
import { isTerminal, prompt } from "../terminal/ask.ts";
import { readFile } from "../input/read-file.ts";
import { TuttiError } from "../../schema/error.ts";
import { ChangedPlan } from "../../schema/plan-changes.ts";
import type { Run } from "../../schema/run.ts";

export function confirmOrder({ edit, skip = [] }: SteerFlags): SendOrder {
  const requested = withSkips(readChanges(edit), skip);
  return async ({ runs, output, id, signal }) => {
    await runs.order(id, "confirm", await settleSkips(output, await runs.run(id), requested, signal));
    return { yes: true };
  };
}

/** The file has the format of the body of `POST /api/orchestrator/:id/confirm-tasks`. */
function readChanges(file: string | undefined): ChangedPlan {
  if (file === undefined) return ChangedPlan.parse({});
  const parsed = ChangedPlan.safeParse(readJson(file));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join(".") || "the file"}: ${message}`);
  throw new TuttiError(
    "invalid_input",
    `"${file}" has invalid plan changes: ${problems.join("; ")}. Correct the file and confirm again.`,
    { details: problems },
  );
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFile(file));
  } catch (error) {
    if (error instanceof TuttiError) throw error;
    throw new TuttiError(
      "invalid_input",
      `"${file}" is not valid JSON (${(error as Error).message}). Correct the file and confirm again.`,
      { cause: error },
    );
  }
}

function withSkips(changes: ChangedPlan, skip: readonly string[]): ChangedPlan {
  const skipped = skip.map((id) => [id, { ...changes.modifications[id], skip: true }] as const);
  return { ...changes, modifications: { ...changes.modifications, ...Object.fromEntries(skipped) } };
}

/** Sets `satisfied` of each skipped task that others depend on. Without a terminal those are blocked. */
async function settleSkips(output: Output, run: Run, changes: ChangedPlan, signal: AbortSignal): Promise<ChangedPlan> {
  const modifications = { ...changes.modifications };
  for (const [id, change] of Object.entries(changes.modifications)) {
    const dependents = change.skip && change.satisfied === undefined ? dependentsOf(run, changes, id) : [];
    if (dependents.length === 0) continue;
    const satisfied = isTerminal(output) && (await mayStart(dependents, id, signal));
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

async function mayStart(dependents: readonly string[], id: string, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    const question = `${id} is skipped. These tasks depend on it: ${dependents.join(", ")}. Start them anyway? [y/n] `;
    const reply = (await prompt(question, signal)).trim().toLowerCase();
    if (["y", "yes", "n", "no"].includes(reply)) return reply.startsWith("y");
  }
}
