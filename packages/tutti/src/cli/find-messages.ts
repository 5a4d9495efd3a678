// Finds the messages in a text: a single one, a list, a file of the mailbox, or an agent's answer with blocks in it.
import { basename, dirname } from "node:path";
import {
  answerParser,
  detectProtocol,
  readConfigFile,
  readMessageFile,
  readQueueFile,
  readStatusFile,
  readTolerantly,
} from "./local-messages.ts";
import type { Problem, Protocol, ReadOptions } from "./local-messages.ts";

/** A problem of a message, or of the text that holds it. */
export type TextProblem = Omit<Problem, "code"> & { code: string };

export interface FoundMessage {
  /** Where in the text: `messages[2]`, `block 1`; empty if the text is just this message. */
  path: string;
  protocol: Protocol;
  value: unknown;
}

export interface FoundMessages {
  /** Null if the text speaks none of the protocols. */
  protocol: Protocol | null;
  messages: FoundMessage[];
  /** What is wrong with the text, besides its messages. */
  problems: TextProblem[];
}

/** The files beside the messages, which have shapes of their own. */
const STATE_FILES = {
  "queue.json": readQueueFile,
  "status.json": readStatusFile,
  "config.json": readConfigFile,
};

export function findMessages(
  text: string | null,
  name: string,
  wanted: Protocol | undefined,
  options: ReadOptions,
): FoundMessages {
  if (text === null) return nothing(wanted, "not_text", "The file is not text in UTF-8.");
  const isJson = /^\s*[[{]/.test(text);
  const hasBlock = text.includes(answerParser.delimiterStart);
  if (hasBlock && (wanted ?? "response") === "response" && !isWholeJson(text)) return findBlocks(text);
  if (text.trim() === "") return nothing(wanted, "empty", "The file is empty.");
  const { value, problems } = parse(text, options);
  if (value === undefined) {
    // A text that does not even begin like JSON speaks no protocol; one that does was meant to.
    return { protocol: isJson || wanted !== undefined ? (wanted ?? null) : null, messages: [], problems };
  }
  const found = findInValue(value, name, wanted, options);
  return { ...found, problems: [...problems, ...found.problems] };
}

function findInValue(value: unknown, name: string, wanted: Protocol | undefined, options: ReadOptions): FoundMessages {
  const read = stateReader(name);
  if (read && (wanted ?? "mailbox") === "mailbox") {
    return { protocol: "mailbox", messages: [], problems: read(value, options).problems };
  }
  if (Array.isArray(value)) return findInList(value, "", wanted);
  const list = (value as { messages?: unknown }).messages;
  if (Array.isArray(list) && (wanted ?? "mailbox") === "mailbox") {
    const { problems } = readMessageFile(value, options);
    return { protocol: "mailbox", messages: findInList(list, "messages", "mailbox").messages, problems };
  }
  const protocol = wanted ?? detectProtocol(value)?.protocol;
  if (protocol === undefined) return nothing(wanted, "unknown_kind", "The file speaks none of the four protocols.");
  return { protocol, messages: [{ path: "", protocol, value }], problems: [] };
}

function findInList(list: readonly unknown[], path: string, wanted: Protocol | undefined): FoundMessages {
  const found: FoundMessages = { protocol: wanted ?? null, messages: [], problems: [] };
  for (const [index, value] of list.entries()) {
    const at = `${path}[${index}]`;
    const protocol = wanted ?? detectProtocol(value)?.protocol;
    if (protocol === undefined) found.problems.push(problem("unknown_kind", at, `${at} speaks none of the protocols.`));
    else found.messages.push({ path: at, protocol, value });
    found.protocol ??= protocol ?? null;
  }
  return found;
}

function findBlocks(text: string): FoundMessages {
  const found: FoundMessages = { protocol: "response", messages: [], problems: [] };
  for (const [index, block] of answerParser.parseMultiple(text).entries()) {
    const path = `block ${index + 1}`;
    if (block.error === undefined) {
      found.messages.push({ path, protocol: "response", value: { phase: block.phase, data: block.data } });
      if (block.repairs) found.problems.push(repaired(path, block.repairs, "warning"));
    } else found.problems.push(problem(block.code ?? "unreadable", path, `${block.error}.`));
  }
  return found;
}

function stateReader(name: string) {
  const inMailbox = [dirname(name), dirname(dirname(name))].some(
    (folder) => basename(folder) === ".claude-orchestrator",
  );
  const base = basename(name);
  return inMailbox && Object.hasOwn(STATE_FILES, base) ? STATE_FILES[base as keyof typeof STATE_FILES] : undefined;
}

/** What is not JSON is read as an agent's hand-written JSON would be, so that all its problems can be told at once. */
function parse(text: string, { profile }: ReadOptions): { value?: unknown; problems: TextProblem[] } {
  try {
    return { value: JSON.parse(text) as unknown, problems: [] };
  } catch (error) {
    const reading = readTolerantly(text);
    const reason = error instanceof Error ? error.message : String(error);
    if (!reading.ok || reading.truncated)
      return { problems: [problem("not_json", "", `The file is not JSON: ${reason}.`)] };
    const severity = profile === "strict" || reading.guessed ? "error" : "warning";
    return { value: reading.value, problems: [repaired("", reading.repairs, severity)] };
  }
}

function isWholeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function repaired(path: string, repairs: readonly string[], severity: Problem["severity"]): TextProblem {
  const sentence = `It is not JSON; it was read with repairs: ${repairs.join(", ")}.`;
  return { code: "repaired", severity, path, sentence };
}

const problem = (code: string, path: string, sentence: string): TextProblem => ({
  code,
  severity: "error",
  path,
  sentence,
});

const nothing = (protocol: Protocol | undefined, code: string, sentence: string): FoundMessages => ({
  protocol: protocol ?? null,
  messages: [],
  problems: [problem(code, "", sentence)],
});
