import { readRuns } from "../access/open-runs.ts";
import type { Output } from "../terminal/output.ts";

export async function list(output: Output): Promise<number> {
  const runs = await (await readRuns(output)).rows();
  output.value(
    runs.map(({ id, status, outcome, templateId, cwd, userRequest, createdAt }) => ({
      id,
      status,
      outcome,
      templateId,
      cwd,
      userRequest,
      createdAt: new Date(createdAt).toISOString(),
    })),
  );
  if (runs.length === 0) output.line('No runs yet. Start one with "tutti run".');
  for (const run of runs)
    output.result(
      `${run.id}  ${(run.outcome ?? run.status).padEnd(11)}  ${run.userRequest.split("\n")[0]!.slice(0, 80)}`,
    );
  return 0;
}
