/**
 * One small run per protocol tries an agent. Every agent must pass `response`, because a main session speaks no other
 * protocol.
 */
export const SUITES = {
  response: { templateId: "documentation", request: "Document this repository" },
  messages: { templateId: "design-only", request: "Design a page that lists the books of one author" },
  mailbox: { templateId: "team-lead", request: "Add a function that finds the books of one author" },
  delegation: { templateId: "modes", request: "Add a function that finds the books of one author" },
  tools: { templateId: "with-tools", request: "Design a page that lists the books of one author" },
} as const;

/** No shipped template has a role with the protocol `tools`, so its suite brings this one. */
export const TOOLS_TEMPLATE = {
  id: SUITES.tools.templateId,
  name: "With tools",
  extends: "design-only",
  roles: { DESIGNER: { protocol: "tools" }, DOCUMENTATION: { protocol: "tools" } },
};

export type SuiteName = keyof typeof SUITES;
export const SUITE_NAMES = Object.keys(SUITES) as SuiteName[];
