import { ISSUE_TYPES } from "../delegation/delegation-schema.ts";
import { delegationKind, RESULTS_OF_OTHER_KINDS } from "../delegation/delegation-message.ts";
import { agentNamed } from "./agent-role.ts";
import type { CanonicalMessage, CanonicalOutcome } from "./canonical-message.ts";
import type { Mapping, MappedMember } from "./mapping.ts";
import { agent, claimsSuccess, priority, recordsIn, same, sentences, timestamp } from "./member-kinds.ts";
import type { Bag } from "./member-path.ts";

const BLOCKING: Record<string, string> = { clarification_needed: "needs_clarification", conflict_detected: "conflict" };
const RESULT_OF = Object.fromEntries(Object.entries(BLOCKING).map(([result, outcome]) => [outcome, result]));

/** Only files and issues of other protocols have the members `FOREIGN_TO_FILES` and `FOREIGN_TO_ISSUES`. */
const FOREIGN_TO_FILES = ["change"];
const FOREIGN_TO_ISSUES = ["detail", "severity", "location"];

/** A file without a type gets the type `document`. Otherwise `artifacts` stay as they are. */
function artifacts(wire: string, name: string): MappedMember {
  return {
    wire,
    name,
    write: (value, canonical) =>
      recordsIn(value).map((file) => ({ type: "document", path: "", ...without(file, FOREIGN_TO_FILES, canonical) })),
  };
}

const issues: MappedMember = {
  wire: "issues_encountered",
  name: "issues",
  write: (value, canonical) =>
    recordsIn(value).map(({ type, ...issue }) => ({
      type: (ISSUE_TYPES as readonly unknown[]).includes(type) ? type : "other",
      description: "",
      ...without(issue, FOREIGN_TO_ISSUES, canonical),
    })),
};

function without(value: Bag, names: readonly string[], { protocol }: CanonicalMessage): Bag {
  if (protocol === "delegation") return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)));
}

const assignment: Mapping = {
  kind: "assignment",
  matches: (message) => delegationKind(message) === "new_task",
  fixed: {},
  implied: { from: agentNamed("orchestrator") },
  members: [
    same("taskId", "taskId"),
    same("parentTaskId", "parentTaskId"),
    agent("delegation", "delegatedToMode", "to", "code"),
    same("objective", "title", ""),
    sentences("context", "requirements"),
    artifacts("inputs", "inputs"),
    artifacts("expectedOutputs", "outputs"),
    same("constraintsAndRules", "constraints"),
    same("acceptanceCriteria", "acceptanceCriteria"),
    priority("delegation", "priority"),
    same("deadlineHint", "deadline"),
    timestamp("timestamp"),
  ],
};

const isResult = (test: (result: string) => boolean) => (message: Bag) =>
  delegationKind(message) === "attempt_completion" && test(String(message.result));

const report: Mapping = {
  kind: "report",
  matches: isResult((result) => !Object.hasOwn(BLOCKING, result) && !Object.hasOwn(RESULTS_OF_OTHER_KINDS, result)),
  fixed: {},
  members: [
    same("taskId", "taskId"),
    {
      wire: "result",
      name: "outcome",
      // An unknown word does not count as `success`.
      read: (value) => (value === "success" ? "success" : "failure"),
      write: (value, canonical) => (claimsSuccess(value as CanonicalOutcome, canonical) ? "success" : "failure"),
    },
    same("summary", "summary", (canonical: { error?: string }) => canonical.error ?? ""),
    artifacts("outputArtifacts", "files"),
    issues,
    timestamp("timestamp"),
  ],
};

const blocker: Mapping = {
  kind: "blocker",
  matches: isResult((result) => Object.hasOwn(BLOCKING, result)),
  fixed: {},
  members: [
    same("taskId", "taskId"),
    {
      wire: "result",
      name: "outcome",
      read: (value) => BLOCKING[String(value)],
      write: (value) => RESULT_OF[String(value)],
    },
    same("summary", "context", firstDescription),
    artifacts("outputArtifacts", "files"),
    issues,
    timestamp("timestamp"),
  ],
};

/**
 * Later versions of the program of document 002 use `in_progress`. Tutti reads it but writes only the document's words.
 */
const progress: Mapping = {
  kind: "progress",
  matches: isResult((result) => result === "in_progress"),
  fixed: {},
  members: [
    same("taskId", "taskId"),
    same("result", "status"),
    same("summary", "currentAction"),
    timestamp("timestamp"),
  ],
  refuses: () => "The delegation protocol has no message for it.",
};

const answer: Mapping = {
  kind: "answer",
  matches: isResult((result) => result === "clarification_provided"),
  fixed: { result: "clarification_provided" },
  implied: { topic: "clarification" },
  members: [same("taskId", "taskId"), same("summary", "summary"), timestamp("timestamp")],
  refuses: () => "The delegation protocol has no message for it.",
};

function firstDescription(canonical: CanonicalMessage): string {
  return (canonical.kind === "blocker" ? canonical.issues?.[0]?.description : undefined) ?? "";
}

export const DELEGATION_MAPPINGS: readonly Mapping[] = [assignment, blocker, progress, answer, report];
