import { howToAnswer } from "../terminal/describe.ts";
import { readRuns } from "../access/open-runs.ts";
import type { Output } from "../terminal/output.ts";

export async function inbox(output: Output): Promise<number> {
  const items = await (await readRuns(output)).inbox();
  output.value(items.map(({ createdAt, ...item }) => ({ ...item, createdAt: new Date(createdAt).toISOString() })));
  if (items.length === 0) output.line("Nothing waits for your answer.");
  for (const item of items) {
    const { id, kind, run, taskId, question, options = [] } = item;
    output.result(`${id}  ${kind}  ${run}${taskId === null ? "" : `  ${taskId}`}`);
    output.result(`  ${question}`);
    for (const [number, option] of options.entries()) output.result(`    ${number}  ${option}`);
    output.result(`  ${howToAnswer(item)}`);
  }
  return 0;
}
