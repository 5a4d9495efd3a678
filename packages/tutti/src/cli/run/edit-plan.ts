// `editPlan` lets the user change a plan in an editor: a commented file in the format of `tutti confirm --edit`.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { describeMistake, readPlanChanges, type PlanMistake } from "../input/read-plan-changes.ts";
import { editFile } from "../terminal/edit-file.ts";
import type { Output } from "../terminal/output.ts";
import { changedPlan } from "../../run/plan/confirm.ts";
import { checkPlan } from "../../run/plan/plan.ts";
import { TuttiError } from "../../schema/error.ts";
import type { ChangedPlan } from "../../schema/plan-changes.ts";
import type { Run } from "../../schema/run.ts";

/** `withMarks` adds a mistake at the end of its line, so that the numbers of the lines stay. */
const MARK = "// MISTAKE: ";

/** Returns null if the user left the file as it was. A file with mistakes is opened again. */
export async function editPlan(
  output: Output,
  run: Run,
  changes: ChangedPlan,
  signal: AbortSignal,
): Promise<ChangedPlan | null> {
  const folder = mkdtempSync(join(tmpdir(), "tutti-plan-"));
  const file = join(folder, "plan.jsonc");
  try {
    for (let offered = planFile(run, changes); ;) {
      writeFileSync(file, offered, { mode: 0o600 });
      const isSaved = await editFile(file, signal);
      const text = readFileSync(file, "utf8");
      if (!isSaved && !signal.aborted)
        output.warn("The editor failed. Set EDITOR to the command that starts your editor.");
      if (!isSaved || text === offered) return null;
      const saved = withoutMarks(text);
      const reading = readChecked(run, saved);
      if ("changes" in reading) return { ...onlyChanges(run, reading.changes), hash: changes.hash };
      for (const mistake of reading.mistakes) output.line(describeMistake(mistake));
      offered = withMarks(saved, reading.mistakes);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const withoutMarks = (text: string): string =>
  text
    .split("\n")
    .map((line) => line.replace(/\s*\/\/ MISTAKE: .*$/, ""))
    .join("\n");

function withMarks(text: string, mistakes: readonly PlanMistake[]): string {
  const lines = text.split("\n");
  for (const { line, problem } of mistakes) lines[line - 1] += ` ${MARK}${problem.replaceAll("\n", " ")}`;
  return lines.join("\n");
}

type CheckedChanges = { changes: ChangedPlan } | { mistakes: PlanMistake[] };

/** Also finds mistakes of the plan as a whole (`planErrors`), such as dependencies that form a cycle. */
function readChecked(run: Run, text: string): CheckedChanges {
  const reading = readPlanChanges(text);
  if ("mistakes" in reading) return reading;
  const { changes, lineOf } = reading;
  const errors = planErrors(run, changes);
  if (errors.length === 0) return { changes };
  const ids = [...run.tasks, ...changes.added].map(({ id }) => id);
  return {
    mistakes: errors.map((problem) => {
      const id = ids.find((each) => problem.split(/[^\w-]+/).includes(each));
      return { line: id === undefined ? 1 : lineOf(id), problem };
    }),
  };
}

function planErrors(run: Run, { modifications, added, removed }: ChangedPlan): string[] {
  try {
    return checkPlan(changedPlan(run, { tasks: modifications, added, removed }).tasks, run.template).errors;
  } catch (error) {
    if (error instanceof TuttiError && error.code === "invalid_plan") return error.details as string[];
    throw error;
  }
}

/** The file lists whole tasks, so members that are equal to the plan are left out. */
function onlyChanges(run: Run, changes: ChangedPlan): ChangedPlan {
  const changed = <T extends object>(edited: T, original: object): Partial<T> =>
    Object.fromEntries(
      Object.entries(edited).filter(([name, value]) => !isDeepStrictEqual(value, Reflect.get(original, name))),
    ) as Partial<T>;
  const modifications = Object.entries(changes.modifications)
    .map(([id, edited]) => [id, changed(edited, run.tasks.find((task) => task.id === id) ?? {})] as const)
    .filter(([, edited]) => Object.keys(edited).length > 0);
  return {
    ...changes,
    modifications: Object.fromEntries(modifications),
    budget: changed(changes.budget, run.budget),
  };
}

function planFile(run: Run, { modifications, added, removed, budget }: ChangedPlan): string {
  const tasks = run.tasks.map((task) => {
    const { id, title, description, scope, priority, dependencies, agent, model } = task;
    const members = { title, description, scope, priority, dependencies, agent, model, ...modifications[id] };
    return `    ${JSON.stringify(id)}: ${json(members, 4)}`;
  });
  return `// The plan of run ${run.id}. Change it, save the file and close the editor; then you see the changed plan.
// If you leave the file as it is, the plan stays as it is.
{
  // The tasks. "skip": true skips a task, and "satisfied": true lets the tasks that depend on it start anyway.
  // "agent" and "model" choose who carries out a task.
  "modifications": {
${tasks.join(",\n")}
  },
  // New tasks: {"id": "…", "title": "…", "description": "…", "scope": [], "priority": 5, "dependencies": []}
  "added": ${json(added, 2)},
  // Ids of tasks to remove.
  "removed": ${json(removed, 2)},
  // Limits of the run: usd, tokens, minutes, turns, depth, descendants.
  "budget": ${json({ ...run.budget, ...budget }, 2)}
}
`;
}

const json = (value: unknown, indent: number): string =>
  JSON.stringify(value, null, 2).replaceAll("\n", `\n${" ".repeat(indent)}`);
