// An `AgentReference` is a sender or recipient. The documents use different names for the same role: `SECURITY_AUDITOR`
// is `security-review` elsewhere, and the team lead of the mailbox is the orchestrator of the other protocols.
import type { Protocol } from "./protocol-name.ts";

export interface AgentReference {
  /** `role` is the same for all protocols. */
  role: string;
  /** `name` is the one used in the message. */
  name: string;
}

/** `ALIASES` are other words for a role, in the form that `slug` produces. */
const ALIASES: Record<string, readonly string[]> = {
  orchestrator: ["team-lead"],
  developer: ["code", "coder", "auto-coder"],
  testing: ["tdd", "tester"],
  documentation: ["docs-writer"],
  "security-auditor": ["security-review", "security-and-production-readiness"],
};
const ROLE_OF = new Map(Object.entries(ALIASES).flatMap(([role, words]) => words.map((word) => [word, role] as const)));

/** Names that `standardName` cannot derive from the role by spelling. */
const NAMES: Partial<Record<Protocol, Record<string, string>>> = {
  mailbox: { orchestrator: "Team Lead", developer: "Developer" },
  delegation: {
    developer: "code",
    testing: "tdd",
    documentation: "docs-writer",
    "security-auditor": "security-review",
  },
  messages: { human: "human" },
};

export function agentNamed(name: string): AgentReference {
  const word = slug(name);
  return { role: ROLE_OF.get(word) ?? word, name };
}

/** Passes unknown names on unchanged. */
export function agentName(protocol: Protocol, { role, name }: AgentReference): string {
  if (agentNamed(name).role !== role || ROLE_OF.has(slug(name)) || isSpelledByRole(role, name)) {
    return standardName(protocol, role);
  }
  return name;
}

export function standardName(protocol: Protocol, role: string): string {
  const names = NAMES[protocol];
  const special = names && Object.hasOwn(names, role) ? names[role] : undefined;
  return special ?? (protocol === "messages" ? role.toUpperCase().replaceAll("-", "_") : role);
}

/** Whether `name` only spells its role, in the style of one of the protocols. */
function isSpelledByRole(role: string, name: string): boolean {
  return role === name || standardName("messages", role) === name || standardName("mailbox", role) === name;
}

function slug(name: string): string {
  const word = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  return word.replace(/^-/, "").replace(/-$/, "");
}
