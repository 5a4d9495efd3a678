import { isRecord } from "../json/json-value.ts";
import { problem, type ProfileProblem, type ProfileReading, type ProfileOptions } from "../response/profile.ts";
import { readWithProfile, whyUnreadable, type SchemaPair } from "../response/read-with-profile.ts";
import { ReadAttemptCompletion, ReadNewTask, WrittenAttemptCompletion, WrittenNewTask } from "./delegation-schema.ts";
import type { AttemptCompletion, DelegationMessage, NewTask, WrittenDelegationMessage } from "./delegation-schema.ts";
import { projectPath } from "./project-memory.ts";

type DelegationKind = "new_task" | "attempt_completion";

const KINDS: Record<DelegationKind, SchemaPair<unknown>> = {
  new_task: { strict: WrittenNewTask, lenient: ReadNewTask, timestamp: "timestamp" },
  attempt_completion: {
    strict: WrittenAttemptCompletion,
    lenient: ReadAttemptCompletion,
    timestamp: "timestamp",
    // The agents that document 002 was made for use `completed` for a finished task.
    aliases: { result: { completed: "success" } },
  },
};

/** `RESULTS_OF_OTHER_KINDS` belong to another kind of message than a report. Tutti reads them but never writes them. */
export const RESULTS_OF_OTHER_KINDS = { in_progress: "progress", clarification_provided: "answer" } as const;

/** With an issue of a type in `OPEN_ISSUES` the task is not finished. */
export const OPEN_ISSUES = ["clarification_needed", "conflict"] as const;

/** Infers the kind from the members, because none names it. */
export function delegationKind(value: unknown): DelegationKind | undefined {
  if (!isRecord(value)) return undefined;
  const names = new Set(Object.keys(value).map((name) => name.toLowerCase().replaceAll(/[_-]/g, "")));
  if (names.has("delegatedtomode") || names.has("objective")) return "new_task";
  if (names.has("outputartifacts") || names.has("issuesencountered")) return "attempt_completion";
  return names.has("result") && (names.has("taskid") || names.has("summary")) ? "attempt_completion" : undefined;
}

export function readDelegationMessage(value: unknown, options: ProfileOptions): ProfileReading<DelegationMessage> {
  const refusal = whyUnreadable(value);
  if (refusal) return { message: null, problems: [refusal] };
  const kind = delegationKind(value);
  if (!kind) {
    const sentence = 'The message has neither "delegatedToMode" (a new_task) nor "result" (an attempt_completion).';
    return { message: null, problems: [problem("error", "unknown_kind", "", sentence)] };
  }
  const { message, problems } = readWithProfile(value, KINDS[kind], options) as ProfileReading<DelegationMessage>;
  if (!message) return { message, problems };
  const warnings = isAttemptCompletion(message) ? mismatches(message) : [];
  return { message, problems: [...problems, ...warnings, ...pathsOutsideProject(message)] };
}

/** Returns the message if document 002 allows it, otherwise the problems. */
export function writeDelegationMessage(message: unknown): ProfileReading<WrittenDelegationMessage> {
  const reading = readDelegationMessage(message, { profile: "strict", receivedAt: "" });
  return reading as ProfileReading<WrittenDelegationMessage>;
}

export function isAttemptCompletion(message: DelegationMessage): message is AttemptCompletion {
  return delegationKind(message) === "attempt_completion";
}

export function mismatchesTask(
  report: Pick<AttemptCompletion, "taskId">,
  task: Pick<NewTask, "taskId">,
): ProfileProblem[] {
  if (report.taskId === task.taskId) return [];
  const sentence = `"taskId" is ${JSON.stringify(report.taskId)}, but the delegated task is ${JSON.stringify(task.taskId)}.`;
  return [problem("error", "mismatch", "taskId", sentence)];
}

/** Warns if `result` and the issue types disagree. It is no error: the document defines their words separately. */
function mismatches({ result, issues_encountered: issues = [] }: AttemptCompletion): ProfileProblem[] {
  const types = new Set(issues.map(({ type }) => type));
  const expected = { clarification_needed: "clarification_needed", conflict_detected: "conflict" }[result];
  if (expected !== undefined && !types.has(expected)) {
    return [
      problem("warning", "mismatch", "result", `"result" is "${result}", but no issue has the type "${expected}".`),
    ];
  }
  if (result !== "success") return [];
  const against = OPEN_ISSUES.find((type) => types.has(type));
  if (against === undefined) return [];
  return [problem("warning", "mismatch", "result", `"result" is "success", but an issue has the type "${against}".`)];
}

/** Warns about artefact paths outside the project, which are not followed. */
function pathsOutsideProject(message: DelegationMessage): ProfileProblem[] {
  const { inputs, expectedOutputs, outputArtifacts } = message as Partial<NewTask & AttemptCompletion>;
  return Object.entries({ inputs, expectedOutputs, outputArtifacts }).flatMap(([list, artifacts = []]) =>
    artifacts.flatMap(({ path }, index) => {
      if (path === undefined || projectPath(path) !== null) return [];
      const member = `${list}[${index}].path`;
      return [
        problem("warning", "bad_format", member, `"${member}" is a path outside the project: ${JSON.stringify(path)}.`),
      ];
    }),
  );
}
