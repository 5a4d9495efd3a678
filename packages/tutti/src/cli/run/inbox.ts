import { howToAnswer } from "../terminal/describe.ts";
import { readRuns } from "../access/open-runs.ts";
import type { Output } from "../terminal/output.ts";
import { alignCells, describeAge } from "../terminal/run-lines.ts";
import { cutAtWord, wrapText } from "../terminal/text-width.ts";

export async function inbox(output: Output): Promise<number> {
  const runs = await readRuns(output);
  const items = await runs.inbox();
  output.value(items.map(({ createdAt, ...item }) => ({ ...item, createdAt: new Date(createdAt).toISOString() })));
  if (items.length === 0) output.line("Nothing waits for your answer.");
  if (items.length === 0 || output.json) return 0;
  const requests = new Map((await runs.rows()).map(({ id, userRequest }) => [id, userRequest]));
  const now = Date.now();
  const newest = items.toReversed();
  const heads = alignCells(
    newest.map(({ id, kind, run, taskId, createdAt }) => [id, kind, run, taskId ?? "", describeAge(createdAt, now)]),
  );
  for (const [i, item] of newest.entries()) {
    output.result(cutAtWord(heads[i]!.trimEnd(), output.columns));
    output.result(
      `  ${cutAtWord(`Request: ${(requests.get(item.run) ?? "").trim().split("\n")[0]}`, output.columns - 2)}`,
    );
    for (const line of wrapText(item.question, output.columns - 2)) output.result(`  ${line}`);
    for (const [number, option] of (item.options ?? []).entries()) output.result(`    ${number}  ${option}`);
    output.result(`  ${howToAnswer(item)}`);
  }
  return 0;
}
