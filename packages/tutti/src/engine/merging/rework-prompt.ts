import { taskOf } from "../../run/lookup.ts";
import { mergedBeside } from "../../run/rework.ts";
import type { Run } from "../../schema/run.ts";
import type { Worker } from "../../schema/worker.ts";

/** `MAX_OUTPUT` is in characters, for each command. */
const MAX_OUTPUT = 3000;

/**
 * For the prompt of a worker with `rework`: why its earlier work was not merged, and the intent of the tasks that
 * `mergedBeside` returns.
 */
export function reworkNote(run: Run, { taskId, rework }: Worker): string[] {
  if (!rework) return [];
  const { attempt, files, commands } = rework;
  const failed = commands.map(
    ({ name, run: line, exitCode, output }) =>
      `- ${name}: \`${line}\` ended with exit code ${exitCode}. The end of its output:\n\n${output.slice(-MAX_OUTPUT)}\n`,
  );
  const others = mergedBeside(run, taskId).map((id) => {
    const { title, description } = taskOf(run, id)!;
    const { outputFiles = [], summary = "" } = run.workers[id] ?? {};
    const lines = [`- ${id}: ${title}`, `  It was meant to: ${indent(description)}`];
    if (summary !== "") lines.push(`  Summary: ${indent(summary)}`);
    return [...lines, `  Files: ${outputFiles.join(", ")}`].join("\n");
  });
  return [
    `The work of attempt ${attempt} at this task was not merged. The current folder contains it together with the work of the other tasks, and there these commands fail, which pass without it:\n${failed.join("\n")}`,
    ...(others.length === 0 ? [] : [`The work of these tasks is merged:\n${others.join("\n")}`]),
    `The files of attempt ${attempt}: ${files.join(", ")}. Change them, or the files of the other tasks, so that the commands pass and both intentions are kept. Do not remove the work of another task.`,
  ];
}

const indent = (text: string): string => text.replaceAll("\n", "\n  ");
