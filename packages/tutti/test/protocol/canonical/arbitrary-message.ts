// Valid messages of all four protocols, made by fast-check, with every member of the documents and some of nobody's.
import fc from "fast-check";
import type { Protocol } from "../../../src/protocol/canonical/protocol-name.ts";

type Message = Record<string, unknown>;

/** Texts that look like the lists, names and numbers which translation makes of texts. */
const text = fc.oneof(
  { weight: 4, arbitrary: fc.string({ maxLength: 12, unit: "grapheme" }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", "1. ", "1. a\n2. b", "1. a\n   b", "null", "a\n\nb", "1. 1. a\n   2. b"),
  },
);
const name = fc.constantFrom("task-001", "API-SPEC-001", "dev_chat_msg_001", "ä 1");
const texts = fc.array(text, { maxLength: 3 });
const time = fc.constantFrom("2024-01-01T00:00:00.000Z", "2025-11-09T21:00:00Z", "2025-11-09T22:00:00+01:00");
const when = fc.oneof(time, fc.constantFrom("2 days", "IMMEDIATE - 1 hour"));
const flag = fc.boolean();
const count = fc.integer({ min: 0, max: 99 });
const word = fc.constantFrom("high", "medium", "low");
const agent = fc.constantFrom(
  ..."ORCHESTRATOR ARCHITECT DEVELOPER SECURITY_AUDITOR SECURITY-and-PRODUCTION-READINESS TESTING".split(" "),
  ..."developer human __proto__".split(" "),
  "Business Owner",
);
const mode = fc.constantFrom("spec-pseudocode", "architect", "code", "tdd", "security-review", "mediator", "My Mode");
const issue = fc.oneof(text, fc.record({ severity: text, file: text, issue: text }, { requiredKeys: [] }));
const issues = fc.array(issue, { maxLength: 2 });
const anything = fc.oneof(text, count, flag, texts, fc.constant(null), fc.record({ a: count }));

/** The members that must be there, those that may, and now and then one that no document knows. */
function message(
  fixed: Message,
  required: Record<string, fc.Arbitrary<unknown>>,
  optional: Record<string, fc.Arbitrary<unknown>> = {},
): fc.Arbitrary<Message> {
  const known = fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });
  const foreign = fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.record({ note: anything, "a.b": anything }, { requiredKeys: [] }) },
  );
  return fc.tuple(known, foreign).map(([members, more]) => ({ ...fixed, ...members, ...more }));
}

const part = (members: Record<string, fc.Arbitrary<unknown>>, required: string[] = []) =>
  fc.record(members, { requiredKeys: required });

const phase = (phase: string, data: fc.Arbitrary<Message>) => data.map((data) => ({ phase, data }));

const task = message(
  {},
  { id: name, title: text, description: text },
  {
    scope: texts,
    priority: fc.integer({ min: 1, max: 10 }),
    dependencies: texts,
    estimated_tokens: count,
  },
);
const conflict = part(
  { type: text, description: text, resolution: text, options: texts, files: texts, workers: texts },
  ["type"],
);
const verificationIssue = part(
  { severity: fc.constantFrom("error", "warning", "info"), description: text, location: text, suggested_fix: text },
  ["description"],
);

const RESPONSE = [
  phase("task_list", message({}, { tasks: fc.tuple(task) }, { total_tasks: count, timestamp: time })),
  phase("task_list", message({}, { tasks: fc.tuple(task, task) }, { parallelizable_groups: fc.array(texts) })),
  phase(
    "progress",
    message(
      {},
      { task_id: name, status: fc.constantFrom("in_progress", "blocked", "retrying") },
      {
        progress_percent: fc.integer({ min: 0, max: 100 }),
        current_action: text,
        files_processed: count,
        files_total: count,
        output_preview: text,
        timestamp: time,
      },
    ),
  ),
  phase(
    "completion",
    message(
      {},
      { task_id: name, status: fc.constantFrom("success", "partial", "failed", "timeout") },
      {
        summary: text,
        output_files: texts,
        output: anything,
        error: text,
        warnings: texts,
        metrics: fc.record({ examples_created: count }),
        partial_progress: anything,
        timestamp: time,
      },
    ),
  ),
  phase(
    "verification",
    message(
      {},
      { status: fc.constantFrom("passed", "failed", "passed_with_warnings") },
      { summary: text, issues: fc.array(verificationIssue, { maxLength: 2 }), auto_fixed: texts, timestamp: time },
    ),
  ),
  phase(
    "analysis",
    message(
      {},
      { summary: text, recommended_splits: count },
      {
        key_files: texts,
        estimated_complexity: fc.constantFrom("low", "medium", "high", "extreme"),
        notes: text,
        warnings: texts,
        components: fc.array(anything, { maxLength: 2 }),
      },
    ),
  ),
  phase(
    "aggregation",
    message(
      {},
      { status: fc.constantFrom("success", "needs_input", "failed") },
      {
        summary: text,
        conflicts: fc.array(conflict, { maxLength: 2 }),
        merged_output: text,
        output_files: texts,
        error: text,
      },
    ),
  ),
  phase("heartbeat", message({}, { timestamp: time, alive: flag })),
];

const platform = fc.constantFrom("web", "android", "ios", "custom");
const build = part(
  {
    status: fc.constantFrom("success", "failed", "not_applicable", "not_verified"),
    command: text,
    errors: count,
    output: text,
  },
  ["status", "command", "errors"],
);
const MAILBOX = [
  message(
    { type: "task_assignment" },
    {
      taskId: name,
      platform,
      title: text,
      instructions: text,
      filesToCreate: texts,
      architecture: text,
      timestamp: time,
    },
    { apiEndpoints: texts },
  ),
  message(
    { type: "completion_report", status: "awaiting_review" },
    {
      taskId: name,
      platform,
      summary: text,
      filesCreated: texts,
      filesModified: texts,
      buildResult: build,
      timestamp: time,
    },
  ),
];

const artifact = part({ type: text, path: text, version: text, description: text }, ["type", "path"]);
const output = part({ type: text, path: text, description: text }, ["type", "path"]);
const encountered = part(
  {
    type: fc.constantFrom("clarification_needed", "technical_issue", "conflict", "other"),
    description: text,
    suggestedResolution: text,
  },
  ["type", "description"],
);
const DELEGATION = [
  message(
    {},
    { taskId: name, delegatedToMode: mode, objective: text, timestamp: time },
    {
      parentTaskId: name,
      context: text,
      inputs: fc.array(artifact, { maxLength: 2 }),
      expectedOutputs: fc.array(output, { maxLength: 2 }),
      constraintsAndRules: texts,
      acceptanceCriteria: texts,
      priority: word,
      deadlineHint: when,
    },
  ),
  message(
    {},
    {
      taskId: name,
      result: fc.constantFrom("success", "failure", "clarification_needed", "conflict_detected"),
      summary: text,
      timestamp: time,
    },
    {
      outputArtifacts: fc.array(artifact, { maxLength: 2 }),
      issues_encountered: fc.array(encountered, { maxLength: 2 }),
    },
  ),
];

const traced = { task_id: name, from_agent: agent, timestamp: time };
const assigned = { ...traced, from_agent: fc.constant("ORCHESTRATOR") };
const resolved = { ...traced, from_agent: fc.constantFrom("ORCHESTRATOR", "human") };
const MESSAGES = [
  message(
    { message_type: "TASK_ASSIGNMENT" },
    { ...assigned, to_agent: agent, task_name: text, requirements: texts, acceptance_criteria: texts },
    {
      priority: word,
      deadline: time,
      context: part({ project: text, phase: text, reference_docs: texts, tech_stack: text, key_constraints: texts }),
      blocked_by: fc.oneof(fc.constant(null), text, fc.array(text, { minLength: 2, maxLength: 3 })),
      related_tasks: texts,
      files_to_review: texts,
    },
  ),
  message({ message_type: "TASK_ACKNOWLEDGMENT", status: "acknowledged" }, traced, {
    to_agent: agent,
    estimated_completion: when,
    understood: flag,
    clarifications_needed: fc.array(anything),
  }),
  message(
    { message_type: "TASK_COMPLETION", status: "completed" },
    {
      ...traced,
      output: part({
        files: texts,
        code: text,
        summary: text,
        artifacts: texts,
        critical_issues: issues,
        high_issues: issues,
        medium_issues: issues,
        low_issues: issues,
        recommendations: texts,
        blocking_deployment: flag,
        review_report: text,
      }),
      validation: part(
        {
          acceptance_criteria_met: fc.array(flag, { maxLength: 3 }),
          all_passed: flag,
          issues,
          security_passed: flag,
          production_readiness_passed: flag,
          scalability_passed: flag,
        },
        ["all_passed"],
      ),
    },
    { next_steps: texts, approval_status: fc.constantFrom("APPROVED", "CONDITIONAL", "REJECTED") },
  ),
  message(
    { message_type: "TASK_REJECTION" },
    { ...assigned, to_agent: agent, reason: text, issues: texts },
    { action_required: text, deadline: time, next_review: text },
  ),
  message(
    { message_type: "BLOCKER_ESCALATION" },
    {
      ...traced,
      blocker_type: fc.constantFrom("clarification_needed", "technical_blocker", "dependency_missing", "scope_change"),
      description: text,
    },
    {
      severity: fc.constantFrom("critical", "high", "medium", "low"),
      options: texts,
      suggested_resolution: text,
      context: text,
      escalate_to: fc.constantFrom("ORCHESTRATOR", "human"),
    },
  ),
  message(
    { message_type: "BLOCKER_RESOLUTION" },
    { ...resolved, to_agent: agent, decision: text, resume_task: flag },
    { rationale: text, modified_requirements: texts },
  ),
];

export const ARBITRARY_MESSAGES: Record<Protocol, fc.Arbitrary<Message>> = {
  response: fc.oneof(...RESPONSE),
  mailbox: fc.oneof(...MAILBOX),
  delegation: fc.oneof(...DELEGATION),
  messages: fc.oneof(...MESSAGES),
};
