import { readRuns } from "../access/open-runs.ts";
import type { Output } from "../terminal/output.ts";
import { describeNext, nextOf, runLines } from "../terminal/run-lines.ts";
import { cutAtWord } from "../terminal/text-width.ts";

export async function list(output: Output): Promise<number> {
  const runs = await (await readRuns(output)).rows();
  output.value(
    runs.map((row) => {
      const { id, status, outcome, templateId, cwd, userRequest, agent, taskCount, completedTasks, usage } = row;
      const about = { id, status, outcome, templateId, cwd, userRequest, agent, taskCount, completedTasks, usage };
      return { ...about, createdAt: new Date(row.createdAt).toISOString(), ...nextOf(row) };
    }),
  );
  if (runs.length === 0) output.line('No runs yet. Start one with "tutti run".');
  const rows = runs.toReversed();
  for (const [i, line] of runLines(rows, Date.now(), output.columns).entries()) {
    output.result(line);
    output.result(`  ${cutAtWord(firstLine(rows[i]!.userRequest), output.columns - 2)}`);
    const next = describeNext(rows[i]!);
    if (next !== null) output.result(`  ${next}`);
  }
  return 0;
}

const firstLine = (text: string): string => text.trim().split("\n")[0]!;
