// The examples of document 003, member by member.

/** Document 003, line 25. */
export const assignment = {
  message_type: "TASK_ASSIGNMENT",
  task_id: "unique_task_identifier",
  from_agent: "ORCHESTRATOR",
  to_agent: "TARGET_AGENT_NAME",
  timestamp: "2025-11-09T21:00:00Z",
  task_name: "Human-readable task description",
  priority: "high|medium|low",
  deadline: "2025-11-10T08:00:00Z",
  requirements: ["Specific requirement 1", "Specific requirement 2", "Specific requirement 3"],
  acceptance_criteria: ["✓ Criterion 1 must be met", "✓ Criterion 2 must be met", "✓ Criterion 3 must be met"],
  context: {
    project: "Project name",
    phase: "Development phase",
    reference_docs: ["CLAUDE.md section"],
    tech_stack: "Technology stack details",
    key_constraints: ["Constraint 1", "Constraint 2"],
  },
  blocked_by: null,
  related_tasks: ["task_id_1", "task_id_2"],
};

/** Document 003, line 71. */
export const acknowledgment = {
  message_type: "TASK_ACKNOWLEDGMENT",
  task_id: "same_task_id_from_assignment",
  from_agent: "AGENT_NAME",
  status: "acknowledged",
  timestamp: "2025-11-09T21:05:00Z",
  estimated_completion: "2025-11-10T02:00:00Z",
  understood: true,
  clarifications_needed: [],
};

/** Document 003, line 96. */
export const completion = {
  message_type: "TASK_COMPLETION",
  task_id: "same_task_id",
  from_agent: "AGENT_NAME",
  status: "completed",
  timestamp: "2025-11-10T01:45:00Z",
  output: {
    files: ["file1.ts", "file2.tsx"],
    code: "Code snippets or file paths",
    summary: "Brief description of what was completed",
    artifacts: ["Additional deliverables"],
  },
  validation: {
    acceptance_criteria_met: [true, true, true],
    all_passed: true,
    issues: [],
  },
  next_steps: ["Suggested next actions"],
};

/** Document 003, line 132. */
export const rejection = {
  message_type: "TASK_REJECTION",
  task_id: "same_task_id",
  from_agent: "ORCHESTRATOR",
  to_agent: "ORIGINAL_AGENT",
  timestamp: "2025-11-10T02:00:00Z",
  reason: "Brief reason for rejection",
  issues: ["Issue 1: Description and location", "Issue 2: Description and location"],
  action_required: "Specific fixes needed",
  deadline: "2025-11-10T06:00:00Z",
  next_review: "Re-validation will occur on resubmission",
};

/** Document 003, line 164. */
export const escalation = {
  message_type: "BLOCKER_ESCALATION",
  task_id: "current_task_id",
  from_agent: "AGENT_NAME",
  blocker_type: "clarification_needed|technical_blocker|dependency_missing|scope_change",
  severity: "critical|high|medium|low",
  timestamp: "2025-11-10T03:00:00Z",
  description: "Detailed description of the blocker",
  options: [
    "Option A: Description and implications",
    "Option B: Description and implications",
    "Option C: Description and implications",
  ],
  suggested_resolution: "Agent's recommendation",
  context: "Additional context needed for decision",
  escalate_to: "ORCHESTRATOR|human",
};

/** Document 003, line 198. */
export const resolution = {
  message_type: "BLOCKER_RESOLUTION",
  task_id: "same_task_id",
  from_agent: "ORCHESTRATOR",
  to_agent: "BLOCKED_AGENT",
  timestamp: "2025-11-10T03:15:00Z",
  decision: "Chosen option or custom solution",
  rationale: "Explanation of why this decision was made",
  modified_requirements: ["Updated requirements if any"],
  resume_task: true,
};

/** Document 003, line 275. */
export const securityAssignment = {
  message_type: "TASK_ASSIGNMENT",
  task_id: "sec_review_001",
  to_agent: "SECURITY_AUDITOR",
  task_name: "Security review for Phase 1 MVP",
  requirements: [
    "Review all code for security vulnerabilities",
    "Check production readiness checklist",
    "Assess scalability and performance",
    "Verify error handling and robustness",
  ],
  files_to_review: ["components/*.tsx", "api/*.ts", "services/*.ts", "package.json"],
  acceptance_criteria: [
    "✓ Security vulnerabilities identified",
    "✓ Production readiness validated",
    "✓ Scalability assessed",
    "✓ Clear approval/rejection decision",
  ],
};

/** Document 003, line 307. */
export const securityCompletion = {
  message_type: "TASK_COMPLETION",
  task_id: "sec_review_001",
  from_agent: "SECURITY_AUDITOR",
  status: "completed",
  approval_status: "APPROVED|CONDITIONAL|REJECTED",
  output: {
    critical_issues: [],
    high_issues: [],
    medium_issues: [],
    low_issues: [],
    recommendations: [],
    blocking_deployment: false,
  },
  validation: {
    security_passed: true,
    production_readiness_passed: true,
    scalability_passed: true,
    all_passed: true,
  },
};

/** Document 003, line 373. */
export const vagueRequirement = {
  message_type: "BLOCKER_ESCALATION",
  blocker_type: "clarification_needed",
  description: "Requirement 'improve performance' is not specific enough",
  suggested_resolution: "Specify target performance metrics (e.g., response time < 200ms)",
};

/** Document 003, line 383. */
export const missingDependency = {
  message_type: "BLOCKER_ESCALATION",
  blocker_type: "dependency_missing",
  description: "Cannot implement authentication - ARCHITECT hasn't designed auth flow",
  suggested_resolution: "Assign ARCHITECT to design authentication architecture first",
};

/** Document 003, line 393. */
export const scopeChange = {
  message_type: "BLOCKER_ESCALATION",
  blocker_type: "scope_change",
  description: "Implementing OAuth2 was not in original requirements",
  escalate_to: "human",
};

/** Document 003, line 409. */
export const chatAssignment = {
  message_type: "TASK_ASSIGNMENT",
  task_id: "dev_chat_msg_001",
  to_agent: "DEVELOPER",
  task_name: "Implement ChatMessage component",
  requirements: [
    "Implement ChatMessage component from DESIGNER spec",
    "Support markdown rendering",
    "Handle user and assistant roles",
    "Include timestamp display",
  ],
  acceptance_criteria: [
    "✓ Component matches DESIGNER specification",
    "✓ Markdown content renders correctly",
    "✓ TypeScript types are correct",
    "✓ No console.log statements",
    "✓ Error handling implemented",
  ],
};

/** Document 003, line 430. */
export const chatAcknowledgment = {
  message_type: "TASK_ACKNOWLEDGMENT",
  task_id: "dev_chat_msg_001",
  from_agent: "DEVELOPER",
  status: "acknowledged",
  estimated_completion: "2 hours",
};

/** Document 003, line 439. */
export const chatCompletion = {
  message_type: "TASK_COMPLETION",
  task_id: "dev_chat_msg_001",
  from_agent: "DEVELOPER",
  status: "completed",
  output: {
    files: ["components/ChatMessage.tsx"],
    summary: "ChatMessage component implemented with markdown support",
  },
  validation: {
    acceptance_criteria_met: [true, true, true, true, true],
    all_passed: true,
    issues: [],
  },
};
