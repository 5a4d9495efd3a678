import { isRecord } from "../json/json-value.ts";
import { Timestamp } from "../timestamp.ts";
import type { AgentReference } from "./agent-role.ts";
import type { CanonicalMessage, CanonicalOutcome } from "./canonical-message.ts";
import type { Mapping, MappedMember } from "./mapping.ts";
import { agent, claimsSuccess, listIn, paths, priority, recordsIn, same, timestamp } from "./member-kinds.ts";

const typed = (type: string, status?: string) => ({
  matches: (message: Record<string, unknown>) => message.message_type === type,
  fixed: { message_type: type, ...(status === undefined ? {} : { status }) },
});
const orchestrator = "ORCHESTRATOR";
/** `unnamedAgent` stands for the sender or recipient of a message from a protocol that does not name them. */
const unnamedAgent = "AGENT";

/** In document 003 a `deadline` is a timestamp. Free text cannot be expressed. */
const deadline: MappedMember = {
  wire: "deadline",
  name: "deadline",
  write: (value) => (Timestamp.safeParse(value).success ? value : undefined),
};

const traced: readonly MappedMember[] = [same("task_id", "taskId"), timestamp("timestamp")];
/** The document lets only the orchestrator assign, reject and resolve. With `resolution` the human may, too. */
const fromOrchestrator: MappedMember = {
  ...agent("messages", "from_agent", "from", orchestrator),
  write: (value, { kind }) =>
    kind === "resolution" && (value as AgentReference).role === "human" ? "human" : orchestrator,
};

const assignment: Mapping = {
  kind: "assignment",
  ...typed("TASK_ASSIGNMENT"),
  members: [
    ...traced,
    fromOrchestrator,
    agent("messages", "to_agent", "to", unnamedAgent),
    same("task_name", "title", ""),
    priority("messages", "priority"),
    deadline,
    { ...same("requirements", "requirements"), fill: () => [] },
    { ...same("acceptance_criteria", "acceptanceCriteria"), fill: () => [] },
    same("context.project", "project"),
    same("context.phase", "phase"),
    paths("context.reference_docs", "inputs"),
    same("context.tech_stack", "techStack"),
    same("context.key_constraints", "constraints"),
    {
      wire: "blocked_by",
      name: "dependencies",
      read: (value) => (value === null ? [] : Array.isArray(value) ? value : [value]),
      write: (value) => {
        const list = listIn(value);
        return list.length === 0 ? null : list.length === 1 ? list[0] : list;
      },
    },
    same("related_tasks", "relatedTasks"),
    same("files_to_review", "scope"),
  ],
};

const acknowledgement: Mapping = {
  kind: "acknowledgement",
  ...typed("TASK_ACKNOWLEDGMENT", "acknowledged"),
  members: [
    ...traced,
    agent("messages", "from_agent", "from", unnamedAgent),
    agent("messages", "to_agent", "to"),
    same("estimated_completion", "estimatedCompletion"),
    same("understood", "understood"),
    same("clarifications_needed", "clarificationsNeeded"),
  ],
};

/** `issues` are sentences in the document and objects in practice. */
function issues(wire: string): MappedMember {
  return {
    wire,
    name: "issues",
    read: (value) => listIn(value).map((each) => (isRecord(each) ? describedBy(each) : { description: each })),
    write: (value) => recordsIn(value).map(({ description, detail }) => detail ?? description ?? ""),
  };
}

function describedBy(detail: Record<string, unknown>): { description: string; detail: Record<string, unknown> } {
  const words = [detail.description, detail.issue, detail.title].find((each) => typeof each === "string");
  return { description: words ?? JSON.stringify(detail), detail };
}

const report: Mapping = {
  kind: "report",
  ...typed("TASK_COMPLETION", "completed"),
  objects: ["output", "validation"],
  // A completion without a `validation` is only a claim and has to be reviewed.
  implied: { outcome: "awaiting_review" },
  members: [
    ...traced,
    agent("messages", "from_agent", "from", unnamedAgent),
    agent("messages", "to_agent", "to"),
    paths("output.files", "files"),
    { wire: "output.code", name: "output", write: (value) => (typeof value === "string" ? value : undefined) },
    same("output.summary", "summary"),
    same("output.artifacts", "deliverables"),
    {
      wire: "validation.all_passed",
      name: "outcome",
      read: (value) => (value === true ? "success" : "partial"),
      write: (value, canonical) => claimsSuccess(value as CanonicalOutcome, canonical),
    },
    same("validation.acceptance_criteria_met", "criteriaMet"),
    issues("validation.issues"),
    same("next_steps", "nextSteps"),
    same("approval_status", "approval.status"),
    same("output.critical_issues", "approval.criticalIssues"),
    same("output.high_issues", "approval.highIssues"),
    same("output.medium_issues", "approval.mediumIssues"),
    same("output.low_issues", "approval.lowIssues"),
    same("output.recommendations", "approval.recommendations"),
    same("output.blocking_deployment", "approval.blockingDeployment"),
    same("validation.security_passed", "approval.securityPassed"),
    same("validation.production_readiness_passed", "approval.productionReadinessPassed"),
    same("validation.scalability_passed", "approval.scalabilityPassed"),
  ],
};

const review: Mapping = {
  kind: "review",
  ...typed("TASK_REJECTION"),
  implied: { verdict: "rejected" },
  members: [
    ...traced,
    fromOrchestrator,
    agent("messages", "to_agent", "to", unnamedAgent),
    same("reason", "summary", "The work was rejected."),
    {
      ...issues("issues"),
      write: (value) => recordsIn(value).map(({ description }) => description ?? ""),
      fill: () => [],
    },
    same("action_required", "actionRequired"),
    deadline,
    same("next_review", "nextReview"),
  ],
  refuses: (canonical) =>
    canonical.kind === "review" && canonical.verdict !== "rejected"
      ? "The agent message protocol has no message for an approval."
      : undefined,
};

const SAME_BLOCKERS = ["clarification_needed", "dependency_missing", "scope_change"];

const blocker: Mapping = {
  kind: "blocker",
  ...typed("BLOCKER_ESCALATION"),
  implied: { outcome: "needs_clarification" },
  members: [
    ...traced,
    agent("messages", "from_agent", "from", unnamedAgent),
    agent("messages", "to_agent", "to"),
    {
      wire: "blocker_type",
      name: "issues.0.type",
      read: (value) => (value === "technical_blocker" ? "technical_issue" : value),
      write: (value) => (SAME_BLOCKERS.includes(String(value)) ? value : "technical_blocker"),
      fill: (canonical) => (isConflict(canonical) ? "technical_blocker" : "clarification_needed"),
    },
    same("severity", "severity"),
    same("description", "issues.0.description", (canonical: { context?: string }) => canonical.context ?? ""),
    same("options", "options"),
    same("suggested_resolution", "issues.0.suggestedResolution"),
    same("context", "context"),
    same("escalate_to", "escalateTo"),
  ],
};

function isConflict(canonical: CanonicalMessage): boolean {
  return canonical.kind === "blocker" && canonical.outcome === "conflict";
}

const resolution: Mapping = {
  kind: "resolution",
  ...typed("BLOCKER_RESOLUTION"),
  members: [
    ...traced,
    fromOrchestrator,
    agent("messages", "to_agent", "to", unnamedAgent),
    same("decision", "decision", ""),
    same("rationale", "rationale"),
    same("modified_requirements", "modifiedRequirements"),
    same("resume_task", "resumeTask", false),
  ],
};

export const AGENT_MAPPINGS: readonly Mapping[] = [assignment, acknowledgement, report, review, blocker, resolution];
