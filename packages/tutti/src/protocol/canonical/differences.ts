import { isRecord } from "../json/json-value.ts";
import { standardName } from "./agent-role.ts";
import type { CanonicalMessage } from "./canonical-message.ts";
import { standardPriority } from "./priority.ts";

export interface Difference {
  path: string;
  /** Undefined if that side has no such member. */
  before: unknown;
  after: unknown;
}

/** Ignores `raw`, `extra` and spelling that is standard in the respective protocol. */
export function differences(before: CanonicalMessage, after: CanonicalMessage): Difference[] {
  return differ(meaningOf(before), meaningOf(after), "");
}

function meaningOf(canonical: CanonicalMessage): Record<string, unknown> {
  const { protocol, raw: _raw, extra: _extra, ...meaning } = canonical as CanonicalMessage & Record<string, unknown>;
  const spelled: Record<string, unknown> = { ...meaning };
  for (const name of ["from", "to"] as const) {
    const agent = canonical[name];
    if (agent && agent.name === standardName(protocol, agent.role)) spelled[name] = { role: agent.role };
  }
  if (canonical.kind === "assignment" && canonical.priority) {
    const { level, original } = canonical.priority;
    if (original === standardPriority(protocol, level)) spelled.priority = { level };
  }
  return spelled;
}

function differ(before: unknown, after: unknown, path: string): Difference[] {
  const bothLists = Array.isArray(before) && Array.isArray(after);
  if (bothLists || (isRecord(before) && isRecord(after))) {
    const left = new Map<string, unknown>(Object.entries(before));
    const right = new Map<string, unknown>(Object.entries(after));
    return [...new Set([...left.keys(), ...right.keys()])].flatMap((name) => {
      const below = bothLists ? `${path}[${name}]` : path === "" ? name : `${path}.${name}`;
      return differ(left.get(name), right.get(name), below);
    });
  }
  return Object.is(before, after) ? [] : [{ path, before, after }];
}
