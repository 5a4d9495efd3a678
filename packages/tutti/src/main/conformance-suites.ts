/**
 * One small run per protocol tries an agent. Every agent must pass `response`, because a main session speaks no other
 * protocol.
 */
export const SUITES = {
  response: { templateId: "documentation", request: "Document this repository" },
  messages: { templateId: "design-only", request: "Design a page that lists the books of one author" },
  mailbox: { templateId: "team-lead", request: "Add a function that finds the books of one author" },
  delegation: { templateId: "modes", request: "Add a function that finds the books of one author" },
} as const;

export type SuiteName = keyof typeof SUITES;
export const SUITE_NAMES = Object.keys(SUITES) as SuiteName[];
