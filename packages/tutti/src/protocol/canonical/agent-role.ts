// Who speaks and who is spoken to. The documents name the same roles differently: `SECURITY_AUDITOR` is
// `security-review` elsewhere, and the team lead of the mailbox is the orchestrator of the others.
import type { Protocol } from "./protocol-name.ts";

export interface AgentReference {
  /** The same word for the same role, whatever the protocol. */
  role: string;
  /** The name as the message gives it. */
  name: string;
}

/** Other words for a role, in the form that `slug` gives them. */
const ALIASES: Record<string, readonly string[]> = {
  orchestrator: ["team-lead"],
  developer: ["code", "coder", "auto-coder"],
  testing: ["tdd", "tester"],
  documentation: ["docs-writer"],
  "security-auditor": ["security-review", "security-and-production-readiness"],
};
const ROLE_OF = new Map(Object.entries(ALIASES).flatMap(([role, words]) => words.map((word) => [word, role] as const)));

/** Names that do not follow from the role by spelling alone. */
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

/** What the protocol calls the agent. A name that we know nothing about is passed on as it is. */
export function agentName(protocol: Protocol, { role, name }: AgentReference): string {
  if (agentNamed(name).role !== role || ROLE_OF.has(slug(name)) || isSpelledByRole(role, name)) {
    return standardName(protocol, role);
  }
  return name;
}

/** How the protocol spells a role. */
export function standardName(protocol: Protocol, role: string): string {
  const own = NAMES[protocol];
  const special = own && Object.hasOwn(own, role) ? own[role] : undefined;
  return special ?? (protocol === "messages" ? role.toUpperCase().replaceAll("-", "_") : role);
}

/** Whether the name says no more than its role, in the spelling of one of the protocols. */
function isSpelledByRole(role: string, name: string): boolean {
  return role === name || standardName("messages", role) === name || standardName("mailbox", role) === name;
}

function slug(name: string): string {
  const word = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  return word.replace(/^-/, "").replace(/-$/, "");
}
