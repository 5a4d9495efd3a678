// The examples of document 002, member by member.

/** Document 002, line 10. */
export const newTaskShape = {
  taskId: "UNIQUE-TASK-ID-001",
  parentTaskId: "PARENT-TASK-ID-001",
  delegatedToMode: "agent-slug",
  objective: "Clear, concise description of what needs to be accomplished",
  context: "Summary of relevant project context and background information",
  inputs: [
    {
      type: "document",
      path: ".project-memory/path/to/input_document.md",
      version: "commit-hash or version",
      description: "Description of this input",
    },
  ],
  expectedOutputs: [
    {
      type: "document",
      path: ".project-memory/path/to/expected_output.md",
      description: "Description of what this output should contain",
    },
  ],
  constraintsAndRules: ["Constraint or rule 1", "Constraint or rule 2"],
  acceptanceCriteria: ["Criterion 1", "Criterion 2"],
  priority: "high|medium|low",
  deadlineHint: "YYYY-MM-DDTHH:MM:SSZ or descriptive timeframe",
};

/** Document 002, line 70. */
export const completionShape = {
  taskId: "UNIQUE-TASK-ID-001",
  result: "success|failure|clarification_needed|conflict_detected",
  summary: "Concise summary of what was accomplished or the issues encountered",
  outputArtifacts: [
    {
      type: "document",
      path: ".project-memory/path/to/output_document.md",
      version: "commit-hash or version",
      description: "Description of this output",
    },
  ],
  issues_encountered: [
    {
      type: "clarification_needed|technical_issue|conflict|other",
      description: "Detailed description of the issue",
      suggestedResolution: "Suggested approach to resolve this issue",
    },
  ],
};

/** Document 002, line 116. */
export const apiSpecTask = {
  taskId: "API-SPEC-001",
  parentTaskId: "FEATURE-AUTH-001",
  delegatedToMode: "spec-pseudocode",
  objective: "Create a detailed API specification for the authentication endpoints",
  context:
    "We are implementing a JWT-based authentication system with login, registration, and password reset endpoints",
  inputs: [
    {
      type: "document",
      path: ".project-memory/hld/auth_system_design.md",
      version: "1.0.0",
      description: "High-level design of the authentication system",
    },
  ],
  expectedOutputs: [
    {
      type: "document",
      path: ".project-memory/lld/api_specifications/auth_api_spec.md",
      description: "Detailed API specification for authentication endpoints",
    },
  ],
  constraintsAndRules: [
    "Follow RESTful API design principles",
    "Include request/response examples for each endpoint",
    "Document all error responses",
  ],
  acceptanceCriteria: [
    "All endpoints from the HLD are specified",
    "Request/response formats are clearly defined",
    "Security considerations are addressed",
  ],
  priority: "high",
  deadlineHint: "2 days",
};

/** Document 002, line 155. */
export const apiSpecSuccess = {
  taskId: "API-SPEC-001",
  result: "success",
  summary:
    "Created detailed API specification for authentication endpoints including login, registration, and password reset. Documented request/response formats, error handling, and security considerations.",
  outputArtifacts: [
    {
      type: "document",
      path: ".project-memory/lld/api_specifications/auth_api_spec.md",
      version: "0.1.0",
      description: "Detailed API specification for authentication endpoints",
    },
  ],
  issues_encountered: [],
};

/** Document 002, line 174. */
export const apiSpecClarification = {
  taskId: "API-SPEC-001",
  result: "clarification_needed",
  summary: "Started creating API specification but need clarification on password reset flow",
  outputArtifacts: [
    {
      type: "document",
      path: ".project-memory/lld/api_specifications/auth_api_spec_draft.md",
      version: "0.0.1",
      description: "Partial API specification (login and registration only)",
    },
  ],
  issues_encountered: [
    {
      type: "clarification_needed",
      description: "The HLD doesn't specify whether password reset requires email verification or security questions",
      suggestedResolution: "Consult with Business Owner to determine preferred password reset approach",
    },
  ],
};
