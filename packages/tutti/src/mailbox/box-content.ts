// `readBoxContent` parses the text of a box. A valid file is `{messages: [...], lastRead}` plus any members of other
// programs. Other content is read as far as possible without guessing, and saved under another name before the file is
// replaced.
import { endOfString } from "../protocol/json/json-escape.ts";
import { isNestedDeeper, isRecord, parseJson } from "../protocol/json/json-value.ts";
import { readMessageFile } from "../protocol/mailbox/mailbox-file.ts";
import { readTolerantly } from "../protocol/json/tolerant-json.ts";
import { hasMoreValues } from "../schema/bounded-json.ts";
import { parseExactly } from "./exact-json.ts";

/** `MAX_DEPTH` is far more than a message needs. Rewriting deeper values could overflow the stack. */
const MAX_DEPTH = 200;
/** Every reader of a box checks all its values. */
const MAX_VALUES = 500_000;

interface BoxContent {
  messages: unknown[];
  /** All members but `messages`, in their order. */
  rest: Record<string, unknown>;
  /** A sentence about the file as a whole; null if it is valid. */
  problem: string | null;
}

/** Like `readBoxContent`, but preserves numbers that exceed the precision of a JavaScript number. */
export const readBoxToRewrite = (text: string | null): BoxContent => readBoxContent(text, parseExactly);

export function readBoxContent(text: string | null, parseWhole: (text: string) => unknown = JSON.parse): BoxContent {
  if (text === null) return damaged("It is not text in UTF-8.");
  if (text.trim() === "") return { messages: [], rest: {}, problem: null };
  let value: unknown;
  try {
    value = parseWhole(text);
  } catch {
    return readDamaged(text);
  }
  if (isNestedDeeper(value, text, MAX_DEPTH)) return damaged("It is nested too deeply.");
  return bounded(readValue(value, null), text);
}

/** Each value needs at least two characters, so most texts need no count. */
const bounded = (content: BoxContent, text: string): BoxContent =>
  text.length > 2 * MAX_VALUES && hasMoreValues(content, MAX_VALUES)
    ? damaged(`It has more than ${MAX_VALUES} values.`)
    : content;

function readDamaged(text: string): BoxContent {
  const reading = readTolerantly(text);
  if (!reading.ok) return readTruncated(text) ?? damaged(`It is not JSON. ${reading.reason}.`);
  if (reading.truncated) return readTruncated(text) ?? damaged("It is truncated and contains no complete message.");
  if (reading.guessed) return damaged("It is not JSON, and its repair is ambiguous.");
  const problem = `It is not JSON; it was read with repairs: ${reading.repairs.join(", ")}.`;
  return bounded(readValue(reading.value, problem), text);
}

function readTruncated(text: string): BoxContent | null {
  const messages = completeMessages(text);
  if (messages.length === 0) return null;
  return { messages, rest: {}, problem: `It is truncated; ${messages.length} complete message(s) were read.` };
}

function readValue(value: unknown, repairs: string | null): BoxContent {
  if (isRecord(value) && Array.isArray(value["messages"])) {
    const { messages, ...rest } = value;
    return { messages: messages as unknown[], rest, problem: repairs };
  }
  // Some agents write a single message, or a bare list of messages.
  const { message, problems } = readMessageFile(value, { profile: "lenient", receivedAt: "" });
  const sentences = problems.map(({ sentence }) => sentence);
  if (message === null) return damaged(sentences.join(" "));
  const { messages, ...rest } = message;
  return { messages, rest, problem: repairs ?? sentences.join(" ") };
}

const damaged = (problem: string): BoxContent => ({ messages: [], rest: {}, problem });

/** Indented as in the document, because users read these files too. */
export function boxText(messages: readonly unknown[], rest: Record<string, unknown>): string {
  const { lastRead = null, ...others } = rest;
  return `${JSON.stringify({ messages, lastRead, ...others }, null, 2)}\n`;
}

/** Returns the complete objects of the list `messages` in a truncated text. */
function completeMessages(text: string): unknown[] {
  const found: unknown[] = [];
  let depth = 0;
  let key = "";
  let inList = false;
  let start = -1;
  for (let at = 0; at < text.length; at++) {
    switch (text.charAt(at)) {
      case '"': {
        const end = endOfString(text, at);
        if (depth === 1) key = text.slice(at + 1, end - 1);
        at = end - 1;
        break;
      }
      case "[":
      case "{":
        if (depth === 1) inList = key === "messages" && text.charAt(at) === "[";
        else if (depth === 2 && inList) start = at;
        depth++;
        break;
      case "]":
      case "}":
        depth--;
        if (depth === 2 && inList) {
          const message = parseJson(text.slice(start, at + 1));
          if (message === undefined) return found;
          found.push(message);
        } else if (depth < 2) inList = false;
        break;
      default:
    }
  }
  return found;
}
