import { isRecord } from "../json/json-value.ts";
import type { CanonicalOutcome } from "./canonical-message.ts";
import type { Mapping } from "./mapping.ts";
import { claimsSuccess, paths, priority, recordsIn, same, sentences } from "./member-kinds.ts";
import type { Bag } from "./member-path.ts";
import { valueAt } from "../../explain-issue.ts";

const STATUS_OF: Partial<Record<CanonicalOutcome, string>> = {
  success: "success",
  partial: "partial",
  failure: "failed",
  timeout: "timeout",
};
const VERDICTS: Record<string, string> = {
  passed: "approved",
  passed_with_warnings: "approved_with_warnings",
  failed: "rejected",
};

const isPhase = (phase: string) => (message: Bag) => message.phase === phase && isRecord(message.data);
const keyOf = (table: Record<string, string>, value: unknown) => Object.keys(table).find((key) => table[key] === value);

const assignment: Mapping = {
  kind: "assignment",
  matches: (message) => message.phase === "task_list" && recordsIn(valueAt(message, ["data", "tasks"])).length === 1,
  fixed: { phase: "task_list" },
  members: [
    same("data.tasks.0.id", "taskId"),
    same("data.tasks.0.title", "title", ""),
    sentences("data.tasks.0.description", "requirements", ""),
    same("data.tasks.0.scope", "scope"),
    priority("response", "data.tasks.0.priority"),
    same("data.tasks.0.dependencies", "dependencies"),
    same("data.tasks.0.estimated_tokens", "estimatedTokens"),
    same("data.timestamp", "timestamp"),
  ],
};

const progress: Mapping = {
  kind: "progress",
  matches: isPhase("progress"),
  fixed: { phase: "progress" },
  members: [
    same("data.task_id", "taskId"),
    same("data.status", "status"),
    same("data.progress_percent", "percent"),
    same("data.current_action", "currentAction"),
    same("data.files_processed", "filesProcessed"),
    same("data.files_total", "filesTotal"),
    same("data.output_preview", "outputPreview"),
    same("data.timestamp", "timestamp"),
  ],
};

const report: Mapping = {
  kind: "report",
  matches: isPhase("completion"),
  fixed: { phase: "completion" },
  members: [
    same("data.task_id", "taskId"),
    {
      wire: "data.status",
      name: "outcome",
      read: (value) => keyOf(STATUS_OF, value) ?? "failure",
      write: (value, canonical) => {
        const outcome = value as CanonicalOutcome;
        return STATUS_OF[outcome] ?? (claimsSuccess(outcome, canonical) ? "success" : "failed");
      },
    },
    same("data.summary", "summary"),
    paths("data.output_files", "files"),
    same("data.output", "output"),
    same("data.error", "error"),
    same("data.warnings", "warnings"),
    same("data.metrics", "metrics"),
    same("data.partial_progress", "partialProgress"),
    same("data.timestamp", "timestamp"),
  ],
};

const review: Mapping = {
  kind: "review",
  matches: isPhase("verification"),
  fixed: { phase: "verification" },
  members: [
    {
      wire: "data.status",
      name: "verdict",
      read: (value) => VERDICTS[String(value)] ?? "rejected",
      write: (value) => keyOf(VERDICTS, value),
    },
    same("data.summary", "summary"),
    {
      wire: "data.issues",
      name: "issues",
      read: (value) =>
        recordsIn(value).map(({ suggested_fix: fix, ...rest }) => ({
          ...rest,
          ...(fix === undefined ? {} : { suggestedResolution: fix }),
        })),
      write: (value) =>
        recordsIn(value).map(({ suggestedResolution, detail: _detail, ...rest }) => ({
          description: "",
          ...rest,
          ...(suggestedResolution === undefined ? {} : { suggested_fix: suggestedResolution }),
        })),
    },
    same("data.auto_fixed", "autoFixed"),
    same("data.timestamp", "timestamp"),
  ],
};

/** `answer` is about the whole run, or a plan of several tasks, which other protocols cannot express in one message. */
const answer: Mapping = {
  kind: "answer",
  matches: (message) => typeof message.phase === "string",
  fixed: {},
  members: [same("phase", "topic"), same("data", "data")],
};

export const RESPONSE_MAPPINGS: readonly Mapping[] = [assignment, progress, report, review, answer];

/** Other protocols cannot express a plan, so `splitPlan` makes a message per task. `lost` lists the dropped members. */
export function splitPlan(message: Bag): { messages: Bag[]; lost: string[] } {
  const tasks = message.phase === "task_list" ? recordsIn(valueAt(message, ["data", "tasks"])) : [];
  if (tasks.length < 2) return { messages: [message], lost: [] };
  const { tasks: _tasks, timestamp: time, total_tasks: _total, ...rest } = message.data as Bag;
  const stamped = time === undefined ? {} : { timestamp: time };
  return {
    messages: tasks.map((task) => ({ ...message, data: { tasks: [task], ...stamped } })),
    lost: Object.keys(rest).map((name) => `raw.data.${name}`),
  };
}
