// `translate` goes from one protocol to another by way of the canonical model.
//
// 1. The result passes the strict profile of its protocol, or there is no result.
// 2. Reading the result yields the original canonical message, except at the paths in `lost` and `filled`.
// 3. A round trip therefore preserves every member that is not listed.
import type { ProfileProblem } from "../response/profile.ts";
import { shortText } from "../../explain-issue.ts";
import { AGENT_MAPPINGS } from "./agent-mapping.ts";
import type { CanonicalMessage } from "./canonical-message.ts";
import { DELEGATION_MAPPINGS } from "./delegation-mapping.ts";
import { differences, type Difference } from "./differences.ts";
import { MAILBOX_MAPPINGS } from "./mailbox-mapping.ts";
import { readMapped, writeMapped, type Mapping } from "./mapping.ts";
import type { Bag } from "./member-path.ts";
import { PROTOCOL_TITLES, type Protocol } from "./protocol-name.ts";
import { readMessage, writeMessage } from "./read-message.ts";
import { RESPONSE_MAPPINGS, splitPlan } from "./response-mapping.ts";

const MAPPINGS: Record<Protocol, readonly Mapping[]> = {
  response: RESPONSE_MAPPINGS,
  mailbox: MAILBOX_MAPPINGS,
  delegation: DELEGATION_MAPPINGS,
  messages: AGENT_MAPPINGS,
};

export interface Loss {
  /** The path in the `CanonicalMessage`, or below `raw` for a member that only the original protocol has. */
  path: string;
  reason: string;
}

export interface Written {
  /** Null if the protocol has no such message. */
  message: Bag | null;
  /** `lost` members cannot be carried by the protocol, or only with another value. */
  lost: Loss[];
  /** `filled` members are required by the protocol, and the original did not have them. */
  filled: Loss[];
}

/** The reader of `protocol` must have accepted `message`. */
export function toCanonical(protocol: Protocol, message: Bag): CanonicalMessage {
  const mapping = MAPPINGS[protocol].find((each) => each.matches(message));
  if (!mapping) throw new TypeError(`The value is not a message of the "${protocol}" protocol.`);
  return readMapped(protocol, mapping, message);
}

/** Writes the canonical message in `protocol`. `at` is the timestamp for a message that requires one and has none. */
export function fromCanonical(protocol: Protocol, canonical: CanonicalMessage, options: { at?: string } = {}): Written {
  const title = PROTOCOL_TITLES[protocol];
  const mapping = MAPPINGS[protocol].find(({ kind }) => kind === canonical.kind);
  if (!mapping) return noMessage(`The ${title} protocol has no message for it.`);
  const refusal = mapping.refuses?.(canonical);
  if (refusal !== undefined) return noMessage(refusal);
  const draft = writeMapped(protocol, mapping, canonical, options.at);
  const { message, problems } = writeMessage(protocol, draft);
  if (!message) return noMessage(problems.map(({ sentence }) => sentence).join(" "));
  const changes = differences(canonical, toCanonical(protocol, draft));
  return {
    message: draft,
    lost: [
      ...changes.filter(({ before }) => before !== undefined).map((change) => lossOf(change, title)),
      ...foreignMembers(protocol, canonical),
    ],
    filled: changes.filter(({ before }) => before === undefined).map((change) => fillingOf(change, title)),
  };
}

interface Translation {
  /** One message, or one per task of a plan. `messages` is empty if the protocol cannot express the message. */
  messages: Bag[];
  lost: Loss[];
  filled: Loss[];
  /** `problems` of the original message. It could not be read if one of them is an error. */
  problems: ProfileProblem[];
}

export function translate(value: unknown, from: Protocol, to: Protocol, receivedAt: string): Translation {
  const { message, problems } = readMessage(from, value, { profile: "lenient", receivedAt });
  if (!message) return { messages: [], lost: [], filled: [], problems };
  const plan = from === "response" && to !== "response" ? splitPlan(message) : { messages: [message], lost: [] };
  const written = plan.messages.map((each) => fromCanonical(to, toCanonical(from, each), { at: receivedAt }));
  const groups = plan.lost.map((path) => ({ path, reason: "Each task became a separate message." }));
  return {
    messages: written.flatMap((each) => (each.message ? [each.message] : [])),
    lost: [...groups, ...written.flatMap(({ lost }) => lost)],
    filled: written.flatMap(({ filled }) => filled),
    problems,
  };
}

function noMessage(reason: string): Written {
  return { message: null, lost: [{ path: "", reason }], filled: [] };
}

function lossOf({ path, after }: Difference, title: string): Loss {
  if (after === undefined) return { path, reason: `The ${title} protocol has no member for it.` };
  return { path, reason: `The ${title} protocol uses ${shortText(after)} instead.` };
}

function fillingOf({ path, after }: Difference, title: string): Loss {
  return { path, reason: `The ${title} protocol requires it; ${shortText(after)} was used.` };
}

function foreignMembers(protocol: Protocol, canonical: CanonicalMessage): Loss[] {
  if (canonical.protocol === protocol) return [];
  const reason = `Only the ${PROTOCOL_TITLES[canonical.protocol]} protocol has this member.`;
  return canonical.extra.map(({ path }) => ({ path: ["raw", ...path].join("."), reason }));
}
