// Reading and writing one message of the delegation protocol (document 002).
import { isRecord } from "../json-value.ts";
import { problem } from "../profile.ts";
import type { Problem, Reading, ReadOptions } from "../profile.ts";
import { readWithProfile, whyUnreadable } from "../read-with-profile.ts";
import type { SchemaPair } from "../read-with-profile.ts";
import { ReadAttemptCompletion, ReadNewTask, WrittenAttemptCompletion, WrittenNewTask } from "./delegation-schema.ts";
import type { AttemptCompletion, DelegationMessage, NewTask, WrittenDelegationMessage } from "./delegation-schema.ts";
import { projectPath } from "./project-memory.ts";

export type DelegationKind = "new_task" | "attempt_completion";

const KINDS: Record<DelegationKind, SchemaPair<unknown>> = {
  new_task: { strict: WrittenNewTask, lenient: ReadNewTask, timestamp: "timestamp" },
  attempt_completion: {
    strict: WrittenAttemptCompletion,
    lenient: ReadAttemptCompletion,
    timestamp: "timestamp",
    // Agents of the set-up behind the document report a finished task with this word.
    aliases: { result: { completed: "success" } },
  },
};

/** Words for a result that mean another kind of message than a report. They are read, and never written. */
export const RESULTS_OF_OTHER_KINDS = { in_progress: "progress", clarification_provided: "answer" } as const;

/** Types of issues with which nobody has finished. */
export const OPEN_ISSUES = ["clarification_needed", "conflict"] as const;

/** The kind of a message, told by its members, because no member names it. */
export function delegationKind(value: unknown): DelegationKind | undefined {
  if (!isRecord(value)) return undefined;
  const names = new Set(Object.keys(value).map((name) => name.toLowerCase().replaceAll(/[_-]/g, "")));
  if (names.has("delegatedtomode") || names.has("objective")) return "new_task";
  if (names.has("outputartifacts") || names.has("issuesencountered")) return "attempt_completion";
  return names.has("result") && (names.has("taskid") || names.has("summary")) ? "attempt_completion" : undefined;
}

export function readDelegationMessage(value: unknown, options: ReadOptions): Reading<DelegationMessage> {
  const refusal = whyUnreadable(value);
  if (refusal) return { message: null, problems: [refusal] };
  const kind = delegationKind(value);
  if (!kind) {
    const sentence = 'The message has neither "delegatedToMode" (a new_task) nor "result" (an attempt_completion).';
    return { message: null, problems: [problem("error", "unknown_kind", "", sentence)] };
  }
  const { message, problems } = readWithProfile(value, KINDS[kind], options) as Reading<DelegationMessage>;
  if (!message) return { message, problems };
  const odd = isAttemptCompletion(message) ? mismatches(message) : [];
  return { message, problems: [...problems, ...odd, ...pathsThatLeadOut(message)] };
}

/** The message as it is sent, if it is one that document 002 allows; otherwise what is wrong with it. */
export function writeDelegationMessage(message: unknown): Reading<WrittenDelegationMessage> {
  const reading = readDelegationMessage(message, { profile: "strict", receivedAt: "" });
  return reading as Reading<WrittenDelegationMessage>;
}

export function isAttemptCompletion(message: DelegationMessage): message is AttemptCompletion {
  return delegationKind(message) === "attempt_completion";
}

/** Why a report is not an answer to this delegation; empty if it is. */
export function mismatchesTask(report: Pick<AttemptCompletion, "taskId">, task: Pick<NewTask, "taskId">): Problem[] {
  if (report.taskId === task.taskId) return [];
  const sentence = `"taskId" is ${JSON.stringify(report.taskId)}, but the delegated task is ${JSON.stringify(task.taskId)}.`;
  return [problem("error", "mismatch", "taskId", sentence)];
}

/** A result that its issues do not explain. The two lists of words are separate, so this is odd, not wrong. */
function mismatches({ result, issues_encountered: issues = [] }: AttemptCompletion): Problem[] {
  const types = new Set(issues.map(({ type }) => type));
  const wanted = { clarification_needed: "clarification_needed", conflict_detected: "conflict" }[result];
  if (wanted !== undefined && !types.has(wanted)) {
    return [
      problem("warning", "mismatch", "result", `"result" is "${result}", but no issue has the type "${wanted}".`),
    ];
  }
  if (result !== "success") return [];
  const against = OPEN_ISSUES.find((type) => types.has(type));
  if (against === undefined) return [];
  return [problem("warning", "mismatch", "result", `"result" is "success", but an issue has the type "${against}".`)];
}

/** Artefacts are shared within a project. A path that leaves it may be meant well, and is followed by nobody. */
function pathsThatLeadOut(message: DelegationMessage): Problem[] {
  const { inputs, expectedOutputs, outputArtifacts } = message as Partial<NewTask & AttemptCompletion>;
  return Object.entries({ inputs, expectedOutputs, outputArtifacts }).flatMap(([list, artifacts = []]) =>
    artifacts.flatMap(({ path }, index) => {
      if (path === undefined || projectPath(path) !== null) return [];
      const place = `${list}[${index}].path`;
      return [problem("warning", "bad_format", place, `"${place}" leads out of the project: ${JSON.stringify(path)}.`)];
    }),
  );
}
