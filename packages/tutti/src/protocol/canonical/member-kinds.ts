import { isRecord } from "../json/json-value.ts";
import { agentName, agentNamed, type AgentReference } from "./agent-role.ts";
import type { CanonicalMessage, CanonicalOutcome } from "./canonical-message.ts";
import type { MappedMember } from "./mapping.ts";
import { priorityOf, standardPriority, type CanonicalPriority } from "./priority.ts";
import type { Protocol } from "./protocol-name.ts";
import { listOf, textOf } from "./text-list.ts";

type Fill = MappedMember["fill"];

export function same(wire: string, name: string, fill?: unknown): MappedMember {
  return fill === undefined
    ? { wire, name }
    : { wire, name, fill: typeof fill === "function" ? (fill as Fill) : () => fill };
}

export function timestamp(wire: string): MappedMember {
  return { wire, name: "timestamp", fill: (_canonical, at) => at };
}

export function agent(protocol: Protocol, wire: string, name: "from" | "to", fill?: string): MappedMember {
  return {
    wire,
    name,
    read: (value) => (typeof value === "string" ? agentNamed(value) : undefined),
    write: (value, canonical) => {
      const reference = value as AgentReference;
      return canonical.protocol === protocol ? reference.name : agentName(protocol, reference);
    },
    fill: () => fill,
  };
}

export function priority(protocol: Protocol, wire: string): MappedMember {
  return {
    wire,
    name: "priority",
    read: priorityOf,
    write: (value, canonical) => {
      const { level, original } = value as CanonicalPriority;
      const isSameProtocol = canonical.protocol === protocol;
      const isValid = protocol === "response" || original === "high" || original === "medium" || original === "low";
      return isSameProtocol && isValid ? original : standardPriority(protocol, level);
    },
  };
}

export function sentences(wire: string, name: string, fill?: string): MappedMember {
  return {
    wire,
    name,
    read: (value) => (typeof value === "string" ? listOf(value) : undefined),
    write: (value) => textOf(value as string[]),
    fill: () => fill,
  };
}

export function paths(wire: string, name: string): MappedMember {
  return {
    wire,
    name,
    read: (value) => listIn(value).map((path) => ({ path })),
    write: (value) => (value as { path?: string }[]).flatMap(({ path }) => (path === undefined ? [] : [path])),
  };
}

export function listIn(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function recordsIn(value: unknown): Record<string, unknown>[] {
  return listIn(value).filter(isRecord);
}

/** Reduces an outcome to success or not, for protocols that have no other values. */
export function claimsSuccess(outcome: CanonicalOutcome, canonical: CanonicalMessage): boolean {
  if (outcome !== "awaiting_review") return outcome === "success";
  const build = canonical.kind === "report" ? canonical.build?.status : undefined;
  return build === "success" || build === "not_applicable";
}
