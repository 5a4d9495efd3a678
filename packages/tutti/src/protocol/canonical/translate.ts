// From a message of one protocol to the same message of another, by way of the canonical model.
//
// 1. What comes out passes the strict profile of its protocol, or nothing comes out.
// 2. Reading what came out gives the canonical message that went in, except at the paths listed as lost or filled.
// 3. So a message that comes back the same way is the same wherever nothing was listed.
import type { Problem } from "../profile.ts";
import { AGENT_MAPPINGS } from "./agent-mapping.ts";
import type { CanonicalMessage } from "./canonical-message.ts";
import { DELEGATION_MAPPINGS } from "./delegation-mapping.ts";
import { differences } from "./differences.ts";
import type { Difference } from "./differences.ts";
import { MAILBOX_MAPPINGS } from "./mailbox-mapping.ts";
import { readMapped, writeMapped } from "./mapping.ts";
import type { Mapping } from "./mapping.ts";
import type { Bag } from "./member-path.ts";
import { PROTOCOL_TITLES } from "./protocol-name.ts";
import type { Protocol } from "./protocol-name.ts";
import { readMessage, writeMessage } from "./read-message.ts";
import { RESPONSE_MAPPINGS, splitPlan } from "./response-mapping.ts";

const MAPPINGS: Record<Protocol, readonly Mapping[]> = {
  response: RESPONSE_MAPPINGS,
  mailbox: MAILBOX_MAPPINGS,
  delegation: DELEGATION_MAPPINGS,
  messages: AGENT_MAPPINGS,
};

export interface Loss {
  /** In the canonical message; under `raw` for a member that only the message's own protocol has. */
  path: string;
  reason: string;
}

export interface Written {
  /** Null when the protocol has no message that says this. */
  message: Bag | null;
  /** What the protocol cannot carry, or not in the same words. */
  lost: Loss[];
  /** What the protocol demands and the message did not say. */
  filled: Loss[];
}

/** The meaning of a message that its protocol's reader has accepted. */
export function toCanonical(protocol: Protocol, message: Bag): CanonicalMessage {
  const mapping = MAPPINGS[protocol].find((each) => each.matches(message));
  if (!mapping) throw new TypeError(`This is not a message of the protocol ${protocol}`);
  return readMapped(protocol, mapping, message);
}

/** The message that says this. `at` is the time for a message that must have one and has none. */
export function fromCanonical(protocol: Protocol, canonical: CanonicalMessage, options: { at?: string } = {}): Written {
  const title = PROTOCOL_TITLES[protocol];
  const mapping = MAPPINGS[protocol].find(({ kind }) => kind === canonical.kind);
  if (!mapping) return unsayable(`The ${title} protocol has no message for it.`);
  const refusal = mapping.refuses?.(canonical);
  if (refusal !== undefined) return unsayable(refusal);
  const draft = writeMapped(protocol, mapping, canonical, options.at);
  const { message, problems } = writeMessage(protocol, draft);
  if (!message) return unsayable(problems.map(({ sentence }) => sentence).join(" "));
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

export interface Translation {
  /** One message, or one for each task of a plan. Empty when nothing could be said. */
  messages: Bag[];
  lost: Loss[];
  filled: Loss[];
  /** What was odd about the message that was read; an error means that it could not be. */
  problems: Problem[];
}

export function translate(value: unknown, from: Protocol, to: Protocol, receivedAt: string): Translation {
  const { message, problems } = readMessage(from, value, { profile: "lenient", receivedAt });
  if (!message) return { messages: [], lost: [], filled: [], problems };
  const plan = from === "response" && to !== "response" ? splitPlan(message) : { messages: [message], lost: [] };
  const written = plan.messages.map((each) => fromCanonical(to, toCanonical(from, each), { at: receivedAt }));
  const groups = plan.lost.map((path) => ({ path, reason: "Each task became a message of its own." }));
  return {
    messages: written.flatMap((each) => (each.message ? [each.message] : [])),
    lost: [...groups, ...written.flatMap(({ lost }) => lost)],
    filled: written.flatMap(({ filled }) => filled),
    problems,
  };
}

function unsayable(reason: string): Written {
  return { message: null, lost: [{ path: "", reason }], filled: [] };
}

function lossOf({ path, after }: Difference, title: string): Loss {
  if (after === undefined) return { path, reason: `The ${title} protocol has no place for it.` };
  return { path, reason: `The ${title} protocol says ${shortText(after)} instead.` };
}

function fillingOf({ path, after }: Difference, title: string): Loss {
  return { path, reason: `The ${title} protocol needs it; ${shortText(after)} was taken.` };
}

function foreignMembers(protocol: Protocol, canonical: CanonicalMessage): Loss[] {
  if (canonical.protocol === protocol) return [];
  const reason = `Only the ${PROTOCOL_TITLES[canonical.protocol]} protocol's message had it.`;
  return canonical.extra.map(({ path }) => ({ path: ["raw", ...path].join("."), reason }));
}

function shortText(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
