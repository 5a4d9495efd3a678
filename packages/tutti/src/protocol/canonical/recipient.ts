import { escalationTarget } from "../messages/agent-message.ts";
import { agentNamed } from "./agent-role.ts";
import type { AgentReference } from "./agent-role.ts";
import type { CanonicalMessage } from "./canonical-message.ts";

/**
 * Returns the recipient of a message that may omit it: the agent that assigned the task, or the escalation target of a
 * blocker.
 */
export function recipientOf(message: CanonicalMessage): AgentReference {
  if (message.to) return message.to;
  if (message.kind !== "blocker") return agentNamed("ORCHESTRATOR");
  const { escalateTo, severity, issues } = message;
  const target = escalationTarget({
    ...(escalateTo === undefined ? {} : { escalate_to: escalateTo }),
    ...(severity === undefined ? {} : { severity }),
    ...(issues?.[0]?.type === undefined ? {} : { blocker_type: issues[0].type }),
  });
  return agentNamed(target);
}
