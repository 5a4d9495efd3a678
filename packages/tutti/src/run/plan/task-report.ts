import { taskStanding } from "../census.ts";
import { workerOf } from "../lookup.ts";
import type { TaskReport } from "../../schema/outcome.ts";
import type { Run } from "../../schema/run.ts";
import type { Task } from "../../schema/task.ts";

/** Prompts contain these texts, so a `TaskReport` has only the beginning of long ones. */
const MAX_SUMMARY = 2000;
const MAX_FILES = 50;
const MAX_WARNINGS = 10;

/** `taskReport` is for the prompts of sessions that build on the task. */
export function taskReport(run: Run, { id, title }: Task): TaskReport {
  const worker = workerOf(run, id);
  const status = taskStanding(run, id);
  const text = status === "completed" ? (worker?.summary ?? worker?.output) : worker?.error;
  const summary = typeof text === "string" ? text.slice(0, MAX_SUMMARY) : "";
  const files = (worker?.outputFiles ?? []).slice(0, MAX_FILES);
  const warnings = [...(worker?.reportedWarnings ?? []), ...(worker?.warnings ?? [])]
    .slice(0, MAX_WARNINGS)
    .map((warning) => warning.slice(0, MAX_SUMMARY));
  return { id, title, status, summary, files, ...(warnings.length > 0 ? { warnings } : {}) };
}
