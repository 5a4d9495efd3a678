// Finds the messages of document 003 in the text of an agent: JSON objects with a `message_type`, fenced or bare, in order.
// The review result of document 001 is one of them.
import { canonicalJson } from "../json/canonical-json.ts";
import { isRecord } from "../json/json-value.ts";
import { hasRepeatedMember } from "../json/repeated-member.ts";
import { readTolerantly } from "../json/tolerant-json.ts";

export interface MessageText {
  /** Null if the text looks like a message and cannot be read. */
  body: Record<string, unknown> | null;
  /** Whether the text is JSON without any repair and without a repeated member. */
  exact: boolean;
}

/** The member that makes an object a message, however it is quoted. */
const LOOKS_LIKE_MESSAGE = /message_?type|approval_?status|review_?result/i;

/** Objects equal to one in `prompt` are left out: an agent may repeat its assignment. */
export function findMessages(text: string, prompt: string): MessageText[] {
  const known = new Set(objectsIn(prompt).flatMap(({ body }) => (body ? [canonicalJson(body)] : [])));
  return objectsIn(text).filter(({ body }) => body === null || !known.has(canonicalJson(body)));
}

function objectsIn(text: string): MessageText[] {
  const found: MessageText[] = [];
  for (let at = text.indexOf("{"); at !== -1;) {
    const end = endOfObject(text, at);
    const raw = text.slice(at, end ?? text.length);
    const message = LOOKS_LIKE_MESSAGE.test(raw) ? readObject(raw) : null;
    if (message) found.push(message);
    // Braces of a program are skipped one by one, because a message may follow inside an unbalanced text.
    const isTaken = message !== null && message.body !== null;
    at = text.indexOf("{", isTaken && end !== null ? end : at + 1);
    if (message !== null && end === null) break;
  }
  return withoutOuter(found);
}

/** An outer text that cannot be read is no message if a message was read inside it. */
function withoutOuter(found: readonly MessageText[]): MessageText[] {
  return found.filter(
    ({ body }, index) => body !== null || !found.slice(index + 1).some((inner) => inner.body !== null),
  );
}

function readObject(raw: string): MessageText | null {
  try {
    const value: unknown = JSON.parse(raw);
    return isMessage(value) ? { body: value, exact: !hasRepeatedMember(raw) } : null;
  } catch {
    const reading = readTolerantly(raw);
    if (!reading.ok || reading.truncated || !isMessage(reading.value)) return { body: null, exact: false };
    return { body: reading.value, exact: false };
  }
}

const isMessage = (value: unknown): value is Record<string, unknown> =>
  isRecord(value) && (typeof value["message_type"] === "string" || isRecord(value["review_result"]));

/** The position after the object that starts at `start`, or null if it does not end. */
function endOfObject(text: string, start: number): number | null {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at++) {
    const char = text[at];
    if (inString) {
      if (char === "\\") at++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{") depth++;
    else if (char === "}" && --depth === 0) return at + 1;
  }
  return null;
}
