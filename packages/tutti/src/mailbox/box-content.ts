// What the text of a box says. A sound file is `{messages: [...], lastRead}` with whatever else its writer put there.
// Anything else is read as far as it can be without guessing, and is kept under another name before it is replaced.
import { isNestedDeeper, isRecord } from "../protocol/json-value.ts";
import { readMessageFile } from "../protocol/mailbox/mailbox-file.ts";
import { readTolerantly } from "../protocol/tolerant-json.ts";
import { parseExactly } from "./exact-json.ts";

/** Deeper than any message; a rewrite of more could exhaust the stack. */
const MAX_DEPTH = 200;

export interface BoxContent {
  messages: unknown[];
  /** All other members of the file, in their order. */
  rest: Record<string, unknown>;
  /** What is wrong with the file as a whole, as a sentence; null if nothing is. */
  problem: string | null;
}

/** The same, to be written again: numbers that are too long for a number stay as they are. */
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
  return readValue(value, null);
}

function readDamaged(text: string): BoxContent {
  const reading = readTolerantly(text);
  if (!reading.ok) return cut(text) ?? damaged(`It is not JSON. ${reading.reason}.`);
  if (reading.truncated) return cut(text) ?? damaged("It breaks off, and no whole message stands in it.");
  if (reading.guessed) return damaged("It is not JSON, and can be read in more than one way.");
  return readValue(reading.value, `It is not JSON; it was read with repairs: ${reading.repairs.join(", ")}.`);
}

function cut(text: string): BoxContent | null {
  const messages = wholeMessages(text);
  if (messages.length === 0) return null;
  return { messages, rest: {}, problem: `It breaks off; ${messages.length} whole message(s) stand before that.` };
}

function readValue(value: unknown, repairs: string | null): BoxContent {
  if (isRecord(value) && Array.isArray(value["messages"])) {
    const { messages, ...rest } = value;
    return { messages: messages as unknown[], rest, problem: repairs };
  }
  // Agents that are told to write a message sometimes write just that, or a list of them.
  const { message, problems } = readMessageFile(value, { profile: "lenient", receivedAt: "" });
  const sentences = problems.map(({ sentence }) => sentence);
  if (message === null) return damaged(sentences.join(" "));
  const { messages, ...rest } = message;
  return { messages, rest, problem: repairs ?? sentences.join(" ") };
}

const damaged = (problem: string): BoxContent => ({ messages: [], rest: {}, problem });

/** The text of a box as we write it: indented as in the document, because people read it too. */
export function boxText(messages: readonly unknown[], rest: Record<string, unknown>): string {
  const { lastRead = null, ...others } = rest;
  return `${JSON.stringify({ messages, lastRead, ...others }, null, 2)}\n`;
}

/** The objects in the list `messages` that are closed, in a text that was cut somewhere. */
function wholeMessages(text: string): unknown[] {
  const found: unknown[] = [];
  let depth = 0;
  let key = "";
  let inList = false;
  let start = -1;
  for (let at = 0; at < text.length; at++) {
    switch (text.charAt(at)) {
      case '"': {
        const end = stringEnd(text, at);
        if (depth === 1) key = text.slice(at + 1, end);
        at = end;
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
          const message = parse(text.slice(start, at + 1));
          if (message === undefined) return found;
          found.push(message);
        } else if (depth < 2) inList = false;
        break;
      default:
    }
  }
  return found;
}

/** Where the string that begins at `start` ends; the end of the text if it does not. */
function stringEnd(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text.charAt(at) === "\\") at++;
    else if (text.charAt(at) === '"') return at;
  }
  return text.length;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
