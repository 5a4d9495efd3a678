// `detectProtocol` relies on the member that names the kind in three of the four protocols; `delegationKind` recognises
// document 002 by its members.
import { delegationKind } from "../delegation/delegation-message.ts";
import { isRecord } from "../json/json-value.ts";
import { WRITTEN_MESSAGES } from "../messages/message-schema.ts";
import { fold, memberNamed } from "../response/read-with-profile.ts";
import type { Protocol } from "./protocol-name.ts";

interface Envelope {
  protocol: Protocol;
  /** The name that the message uses for its kind: a phase, a type, or a `delegationKind`. */
  kind: string;
  raw: Record<string, unknown>;
}

const AGENT_TYPES = new Map(Object.keys(WRITTEN_MESSAGES).map((type) => [fold(type), type]));

export function detectProtocol(value: unknown): Envelope | null {
  if (!isRecord(value)) return null;
  const type = memberNamed(value, "message_type", "lenient");
  if (typeof type === "string") {
    const folded = fold(type).replace("acknowledgement", "acknowledgment");
    return { protocol: "messages", kind: AGENT_TYPES.get(folded) ?? type, raw: value };
  }
  if (typeof value.phase === "string" && isRecord(value.data)) {
    return { protocol: "response", kind: value.phase, raw: value };
  }
  const delegation = delegationKind(value);
  if (typeof value.type === "string" && !delegation) return { protocol: "mailbox", kind: value.type, raw: value };
  return delegation ? { protocol: "delegation", kind: delegation, raw: value } : null;
}
