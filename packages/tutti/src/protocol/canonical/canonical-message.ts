// `CanonicalMessage` is one model for the messages of all four protocols. It keeps its protocol, the original (`raw`)
// and the members that only its own protocol has (`extra`), so reading a message loses nothing.
import { z } from "zod";
import { PROTOCOLS } from "./protocol-name.ts";

const OUTCOMES = [
  "success",
  "partial",
  "failure",
  "timeout",
  "needs_clarification",
  "conflict",
  "awaiting_review",
] as const;
export type CanonicalOutcome = (typeof OUTCOMES)[number];

const texts = z.array(z.string());
const Agent = z.object({ role: z.string(), name: z.string() });

const CanonicalFile = z.looseObject({
  path: z.string().optional(),
  change: z.enum(["created", "modified"]).optional(),
  type: z.string().optional(),
  version: z.string().optional(),
  description: z.string().optional(),
});

const CanonicalIssue = z.looseObject({
  type: z.string().optional(),
  severity: z.string().optional(),
  description: z.string().optional(),
  location: z.string().optional(),
  suggestedResolution: z.string().optional(),
  /** `detail` is the original issue, if it was an object rather than a sentence. */
  detail: z.record(z.string(), z.unknown()).optional(),
});

const shared = {
  protocol: z.enum(PROTOCOLS),
  taskId: z.string().optional(),
  from: Agent.optional(),
  to: Agent.optional(),
  timestamp: z.string().optional(),
  extra: z.array(z.object({ path: texts, value: z.unknown() })),
  raw: z.unknown(),
};

const CanonicalAssignment = z.object({
  ...shared,
  kind: z.literal("assignment"),
  parentTaskId: z.string().optional(),
  title: z.string().optional(),
  requirements: texts.optional(),
  acceptanceCriteria: texts.optional(),
  constraints: texts.optional(),
  priority: z.object({ level: z.number(), original: z.union([z.number(), z.string()]) }).optional(),
  deadline: z.string().optional(),
  dependencies: texts.optional(),
  relatedTasks: texts.optional(),
  scope: texts.optional(),
  inputs: z.array(CanonicalFile).optional(),
  outputs: z.array(CanonicalFile).optional(),
  project: z.string().optional(),
  phase: z.string().optional(),
  techStack: z.string().optional(),
  platform: z.string().optional(),
  architecture: z.string().optional(),
  apiEndpoints: texts.optional(),
  estimatedTokens: z.number().optional(),
});

const CanonicalAcknowledgement = z.object({
  ...shared,
  kind: z.literal("acknowledgement"),
  estimatedCompletion: z.string().optional(),
  understood: z.boolean().optional(),
  clarificationsNeeded: z.array(z.unknown()).optional(),
});

const CanonicalProgress = z.object({
  ...shared,
  kind: z.literal("progress"),
  status: z.string(),
  percent: z.number().optional(),
  currentAction: z.string().optional(),
  filesProcessed: z.number().optional(),
  filesTotal: z.number().optional(),
  outputPreview: z.string().optional(),
});

const CanonicalReport = z.object({
  ...shared,
  kind: z.literal("report"),
  outcome: z.enum(OUTCOMES),
  summary: z.string().optional(),
  files: z.array(CanonicalFile).optional(),
  deliverables: texts.optional(),
  output: z.unknown().optional(),
  error: z.string().optional(),
  warnings: texts.optional(),
  issues: z.array(CanonicalIssue).optional(),
  criteriaMet: z.array(z.boolean()).optional(),
  nextSteps: texts.optional(),
  metrics: z.record(z.string(), z.unknown()).optional(),
  partialProgress: z.unknown().optional(),
  platform: z.string().optional(),
  build: z.looseObject({ status: z.string().optional() }).optional(),
  /** `approval` has the findings and the decision of an auditor. */
  approval: z
    .object({
      status: z.string().optional(),
      criticalIssues: z.array(z.unknown()).optional(),
      highIssues: z.array(z.unknown()).optional(),
      mediumIssues: z.array(z.unknown()).optional(),
      lowIssues: z.array(z.unknown()).optional(),
      recommendations: z.array(z.unknown()).optional(),
      blockingDeployment: z.boolean().optional(),
      securityPassed: z.boolean().optional(),
      productionReadinessPassed: z.boolean().optional(),
      scalabilityPassed: z.boolean().optional(),
    })
    .optional(),
});

const CanonicalReview = z.object({
  ...shared,
  kind: z.literal("review"),
  verdict: z.enum(["approved", "approved_with_warnings", "rejected"]),
  summary: z.string().optional(),
  issues: z.array(CanonicalIssue).optional(),
  autoFixed: texts.optional(),
  actionRequired: z.string().optional(),
  deadline: z.string().optional(),
  nextReview: z.string().optional(),
});

const CanonicalBlocker = z.object({
  ...shared,
  kind: z.literal("blocker"),
  outcome: z.enum(["needs_clarification", "conflict"]),
  issues: z.array(CanonicalIssue).optional(),
  severity: z.string().optional(),
  options: texts.optional(),
  context: z.string().optional(),
  escalateTo: z.string().optional(),
  files: z.array(CanonicalFile).optional(),
});

const CanonicalResolution = z.object({
  ...shared,
  kind: z.literal("resolution"),
  decision: z.string().optional(),
  rationale: z.string().optional(),
  modifiedRequirements: texts.optional(),
  resumeTask: z.boolean().optional(),
});

const CanonicalAnswer = z.object({
  ...shared,
  kind: z.literal("answer"),
  /** A phase of the delimited response, `clarification`, or the type of the message. */
  topic: z.string(),
  summary: z.string().optional(),
  data: z.unknown().optional(),
});

export const CanonicalMessage = z.discriminatedUnion("kind", [
  CanonicalAssignment,
  CanonicalAcknowledgement,
  CanonicalProgress,
  CanonicalReport,
  CanonicalReview,
  CanonicalBlocker,
  CanonicalResolution,
  CanonicalAnswer,
]);
export type CanonicalMessage = z.infer<typeof CanonicalMessage>;
export type CanonicalKind = CanonicalMessage["kind"];
