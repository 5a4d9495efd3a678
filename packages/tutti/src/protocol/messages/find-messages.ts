// `findMessages` finds JSON objects in the text of an agent, fenced or bare, in order. Those of document 003 have a
// `message_type`, the review result of document 001 has its name as member, and those of document 002 are recognised by
// their members.
import { delegationKind } from "../delegation/delegation-message.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import { isRecord } from "../json/json-value.ts";
import { hasRepeatedMember } from "../json/repeated-member.ts";
import { readTolerantly } from "../json/tolerant-json.ts";

interface MessageText {
  /** Null if the text looks like a message and cannot be read. */
  body: Record<string, unknown> | null;
  /**
   * `exact` means JSON without any repair and without a repeated member, which starts on a line of its own, in a text
   * that contains nothing else that looks like a message. A quoted message is not exact.
   */
  exact: boolean;
}

interface MessageForm {
  /** The member that makes an object a message, however it is quoted. */
  look: RegExp;
  isMessage: (value: unknown) => value is Record<string, unknown>;
}

const AGENT_MESSAGE: MessageForm = {
  look: /message_?type|approval_?status|review_?result/i,
  isMessage: (value): value is Record<string, unknown> =>
    isRecord(value) && (typeof value["message_type"] === "string" || isRecord(value["review_result"])),
};

/** The lead of a team may also answer with the verdicts of document 003, so `DELEGATION` accepts an `AGENT_MESSAGE`. */
const DELEGATION: MessageForm = {
  look: /message_?type|delegated_?to_?mode|objective|"?result"?\s*:|attempt_completion|new_task/i,
  isMessage: (value): value is Record<string, unknown> =>
    isRecord(value) && (AGENT_MESSAGE.isMessage(value) || delegationKind(unwrap(value)) !== undefined),
};

/** An agent may name the message like the tool: `{"new_task": {…}}`. */
export function unwrap(value: Record<string, unknown>): Record<string, unknown> {
  const inner = value["new_task"] ?? value["attempt_completion"];
  return Object.keys(value).length === 1 && isRecord(inner) ? inner : value;
}

/** Reading objects that are damaged takes long, and an agent may write thousands, one inside the other. */
const MAX_OBJECTS = 200;
const MAX_REPAIR = 128 * 1024;
/** In characters. Each object is read together with those inside it, so deep nesting would take quadratic time. */
const MAX_READ = 4 * 1024 * 1024;

const FORMS = { messages: AGENT_MESSAGE, delegation: DELEGATION };

/** Leaves out objects equal to one in `prompt`: an agent may repeat its assignment. */
export function findMessages(text: string, prompt: string, protocol: keyof typeof FORMS = "messages"): MessageText[] {
  const form = FORMS[protocol];
  const known = new Set(objectsIn(prompt, form).flatMap(({ body }) => (body ? [canonicalJson(body)] : [])));
  return objectsIn(text, form).filter(({ body }) => body === null || !known.has(canonicalJson(body)));
}

function objectsIn(text: string, form: MessageForm): MessageText[] {
  const found: MessageText[] = [];
  let isClear = true;
  let rest = "";
  let restAt = 0;
  let readLength = 0;
  for (let at = text.indexOf("{"); at !== -1 && found.length < MAX_OBJECTS;) {
    const end = endOfObject(text, at);
    const raw = text.slice(at, end ?? text.length);
    readLength += raw.length;
    if (readLength > MAX_READ + text.length) {
      // The rest may contain a message that contradicts those before.
      isClear = false;
      break;
    }
    if (form.look.test(withoutEscapes(raw))) {
      const message = readObject(raw, form);
      if (message) found.push({ ...message, exact: message.exact && startsLine(text, at) });
      if (message && end === null) break;
      if (message?.body) {
        rest += text.slice(restAt, at);
        restAt = end!;
      } else isClear = false;
      // Braces of a program are skipped one by one, because a message may follow inside an unbalanced text.
      at = text.indexOf("{", message?.body ? end! : at + 1);
    } else if (end === null) break;
    else at = text.indexOf("{", end);
  }
  rest += text.slice(restAt);
  if (STATEMENT.test(withoutEscapes(rest))) isClear = false;
  return withoutOuter(found).map((message) => ({ ...message, exact: message.exact && isClear }));
}

/** A part of a damaged message, or the same in another notation. */
const STATEMENT =
  /(?:message_?type|approval_?status|blocking_?deployment|all_?passed)["'`]?\s*[:=]|["'`]rejected["'`]/i;

/** A name may be written with escapes. */
const withoutEscapes = (raw: string): string =>
  raw.replaceAll(/\\u([0-9a-f]{4})/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)));

const startsLine = (text: string, at: number): boolean =>
  text.slice(text.lastIndexOf("\n", at - 1) + 1, at).trim() === "";

/** An outer text that cannot be read is no message if a message was read inside it. */
function withoutOuter(found: readonly MessageText[]): MessageText[] {
  return found.filter(
    ({ body }, index) => body !== null || !found.slice(index + 1).some((inner) => inner.body !== null),
  );
}

function readObject(raw: string, { isMessage }: MessageForm): MessageText | null {
  try {
    const value: unknown = JSON.parse(raw);
    return isMessage(value) ? { body: value, exact: !hasRepeatedMember(raw) } : null;
  } catch {
    if (raw.length > MAX_REPAIR) return { body: null, exact: false };
    const reading = readTolerantly(raw);
    if (!reading.ok || reading.truncated || !isMessage(reading.value)) return { body: null, exact: false };
    return { body: reading.value, exact: false };
  }
}

/** Null if the object that starts at `start` does not end. */
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
