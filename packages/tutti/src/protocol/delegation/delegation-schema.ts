// The messages of document 002, each as Tutti writes it and as it accepts it. The document marks no member as required
// and has no `timestamp`. These schemas require the members that are needed to address and trace a delegation.
import { z } from "zod";
import { Timestamp } from "../timestamp.ts";

const RESULTS = ["success", "failure", "clarification_needed", "conflict_detected"] as const;
export const ISSUE_TYPES = ["clarification_needed", "technical_issue", "conflict", "other"] as const;
const PRIORITIES = ["high", "medium", "low"] as const;

/** The set of types of an `Artifact` is open: document, code, and so on. */
const Artifact = z.looseObject({
  type: z.string(),
  path: z.string(),
  version: z.string().optional(),
  description: z.string().optional(),
});
const ReadArtifact = Artifact.partial();

const ExpectedOutput = z.looseObject({
  type: z.string(),
  path: z.string(),
  description: z.string().optional(),
});
const ReadExpectedOutput = ExpectedOutput.partial();

const IssueEncountered = z.looseObject({
  type: z.enum(ISSUE_TYPES),
  description: z.string(),
  suggestedResolution: z.string().optional(),
});
const ReadIssueEncountered = IssueEncountered.partial().extend({ type: z.string().optional() });

export const WrittenNewTask = z.looseObject({
  taskId: z.string().min(1),
  parentTaskId: z.string().optional(),
  delegatedToMode: z.string().min(1),
  objective: z.string(),
  context: z.string().optional(),
  inputs: z.array(Artifact).optional(),
  expectedOutputs: z.array(ExpectedOutput).optional(),
  constraintsAndRules: z.array(z.string()).optional(),
  acceptanceCriteria: z.array(z.string()).optional(),
  priority: z.enum(PRIORITIES).optional(),
  deadlineHint: z.string().optional(),
  timestamp: Timestamp,
});

export const ReadNewTask = WrittenNewTask.extend({
  inputs: z.array(ReadArtifact).optional(),
  expectedOutputs: z.array(ReadExpectedOutput).optional(),
  priority: z.union([z.string(), z.number()]).optional(),
  timestamp: z.string().optional(),
});

export const WrittenAttemptCompletion = z.looseObject({
  taskId: z.string().min(1),
  result: z.enum(RESULTS),
  summary: z.string(),
  outputArtifacts: z.array(Artifact).optional(),
  issues_encountered: z.array(IssueEncountered).optional(),
  timestamp: Timestamp,
});

export const ReadAttemptCompletion = WrittenAttemptCompletion.extend({
  result: z.string().min(1),
  outputArtifacts: z.array(ReadArtifact).optional(),
  issues_encountered: z.array(ReadIssueEncountered).optional(),
  timestamp: z.string().optional(),
});

export type WrittenDelegationMessage = z.infer<typeof WrittenNewTask | typeof WrittenAttemptCompletion>;

type Stamped<M> = M & { timestamp: string };
export type NewTask = Stamped<z.infer<typeof ReadNewTask>>;
export type AttemptCompletion = Stamped<z.infer<typeof ReadAttemptCompletion>>;
/** A `DelegationMessage` has no member for its kind; use `delegationKind`. */
export type DelegationMessage = NewTask | AttemptCompletion;
