// `tutti list`: all runs of the data folder.
import type { Output } from "./output.ts";
import { readSummaries } from "./local-engine.ts";

export async function list(output: Output): Promise<number> {
  const runs = readSummaries(output.dataDir);
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
  if (runs.length === 0) output.line("no runs yet");
  for (const run of runs)
    output.result(
      `${run.id}  ${(run.outcome ?? run.status).padEnd(11)}  ${run.userRequest.split("\n")[0]!.slice(0, 80)}`,
    );
  return 0;
}
