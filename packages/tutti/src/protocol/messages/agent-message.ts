import { agentNamed } from "../canonical/agent-role.ts";
import { problem, type ProfileProblem, type ProfileReading, type ProfileOptions } from "../response/profile.ts";
import { fold, memberNamed, readWithProfile, whyUnreadable, type SchemaPair } from "../response/read-with-profile.ts";
import { READ_MESSAGES, type AgentMessage, type BlockerEscalation } from "./message-reading.ts";
import { WRITTEN_MESSAGES, type MessageType, type WrittenAgentMessage } from "./message-schema.ts";

const TYPES = Object.keys(WRITTEN_MESSAGES) as MessageType[];
/** Only the orchestrator assigns and rejects, so `DEFAULTS` name it as the sender of these messages. */
const DEFAULTS: Partial<Record<MessageType, Record<string, unknown>>> = {
  TASK_ASSIGNMENT: { from_agent: "ORCHESTRATOR" },
  TASK_REJECTION: { from_agent: "ORCHESTRATOR" },
};

export function readAgentMessage(value: unknown, options: ProfileOptions): ProfileReading<AgentMessage> {
  const refusal = whyUnreadable(value);
  if (refusal) return { message: null, problems: [refusal] };
  const type = messageType(value, options);
  if (!type) return { message: null, problems: [unknownType(value)] };
  const schemas: SchemaPair<unknown> = {
    strict: WRITTEN_MESSAGES[type],
    lenient: READ_MESSAGES[type],
    timestamp: "timestamp",
    aliases: { message_type: { TASK_ACKNOWLEDGEMENT: "TASK_ACKNOWLEDGMENT" } },
    ...(DEFAULTS[type] ? { defaults: DEFAULTS[type] } : {}),
  };
  const { message, problems } = readWithProfile(value, schemas, options);
  const read = message as AgentMessage | null;
  return { message: read, problems: [...problems, ...(read ? [...oddities(read), ...doubtSender(read)] : [])] };
}

/** Returns the message if document 003 allows it, otherwise the problems. */
export function writeAgentMessage(message: unknown): ProfileReading<WrittenAgentMessage> {
  return readAgentMessage(message, { profile: "strict", receivedAt: "" }) as ProfileReading<WrittenAgentMessage>;
}

/**
 * Returns the agent that has to resolve a blocker. Without `escalate_to`, scope changes and critical blockers go to the
 * human and all others to the orchestrator.
 */
export function escalationTarget(
  blocker: Pick<BlockerEscalation, "escalate_to" | "blocker_type" | "severity">,
): string {
  if (blocker.escalate_to !== undefined) return blocker.escalate_to;
  return blocker.blocker_type === "scope_change" || blocker.severity === "critical" ? "human" : "ORCHESTRATOR";
}

/** Under `lenient`, other spellings of the type are accepted. */
function messageType(value: unknown, { profile }: ProfileOptions): MessageType | undefined {
  const named = memberNamed(value, "message_type", profile);
  if (typeof named !== "string") return undefined;
  if (profile === "strict") return TYPES.find((type) => type === named);
  const folded = fold(named).replace("acknowledgement", "acknowledgment");
  return TYPES.find((type) => fold(type) === folded);
}

function unknownType(value: unknown): ProfileProblem {
  const { message_type: named } = value as { message_type?: unknown };
  const expected = `it must be one of ${TYPES.join(", ")}`;
  if (typeof named !== "string") {
    return problem("error", "missing", "message_type", `"message_type" is missing; ${expected}.`);
  }
  return problem("error", "unknown_kind", "message_type", `"message_type" is ${JSON.stringify(named)}; ${expected}.`);
}

/** Only the security review may have an `approval_status`. The schemas name the senders of all other messages. */
function doubtSender(message: AgentMessage): ProfileProblem[] {
  if (message.message_type !== "TASK_COMPLETION" || message.approval_status === undefined) return [];
  const { from_agent: from } = message;
  if (from === undefined || agentNamed(from).role === "security-auditor") return [];
  const sentence = `${JSON.stringify(from)} may not send a completion with "approval_status".`;
  return [problem("warning", "mismatch", "from_agent", sentence)];
}

/** Warns about an assignment without `acceptance_criteria`, and about a completion that contradicts itself. */
function oddities(message: AgentMessage): ProfileProblem[] {
  if (message.message_type === "TASK_ASSIGNMENT" && message.acceptance_criteria.length === 0) {
    const sentence = '"acceptance_criteria" is empty, so no completion of the task can be checked.';
    return [problem("warning", "empty", "acceptance_criteria", sentence)];
  }
  if (message.message_type !== "TASK_COMPLETION") return [];
  const { acceptance_criteria_met: met, all_passed: passed } = message.validation ?? {};
  if (passed !== true || !met?.includes(false)) return [];
  const sentence = '"validation.all_passed" is true, but a criterion in "acceptance_criteria_met" is not met.';
  return [problem("warning", "mismatch", "validation.all_passed", sentence)];
}
