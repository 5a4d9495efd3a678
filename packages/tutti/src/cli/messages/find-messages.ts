// `findMessages` accepts one message, a list, a mailbox file, or an agent's answer with delimited blocks.
import { basename, dirname } from "node:path";
import type { ListedMessage, TextProblem } from "../../protocol/canonical/check-messages.ts";
import { detectProtocol } from "../../protocol/canonical/detect-protocol.ts";
import type { Protocol } from "../../protocol/canonical/protocol-name.ts";
import { parseJson } from "../../protocol/json/json-value.ts";
import { readTolerantly } from "../../protocol/json/tolerant-json.ts";
import { readConfigFile, readMessageFile, readQueueFile, readStatusFile } from "../../protocol/mailbox/mailbox-file.ts";
import type { ProfileOptions, ProfileProblem } from "../../protocol/response/profile.ts";
import { ResponseParser } from "../../protocol/response/response-parser.ts";

export const answerParser = new ResponseParser();

export interface FoundMessages {
  /** Null if the text matches none of the protocols. */
  protocol: Protocol | null;
  messages: ListedMessage[];
  /** Problems of the text itself. `checkMessages` finds those of the messages. */
  problems: TextProblem[];
}

/** Mailbox files without messages. `stateReader` selects one by the name of the file. */
const STATE_FILES = {
  "queue.json": readQueueFile,
  "status.json": readStatusFile,
  "config.json": readConfigFile,
};

export function findMessages(
  text: string | null,
  name: string,
  expected: Protocol | undefined,
  options: ProfileOptions,
): FoundMessages {
  if (text === null) return noMessages(expected, "not_text", "The file is not UTF-8 text.");
  const hasBlock = text.includes(answerParser.delimiterStart);
  if (hasBlock && (expected ?? "response") === "response" && !isWholeJson(text)) return findBlocks(text);
  if (text.trim() === "") return noMessages(expected, "empty", "The file is empty.");
  const { value, problems } = parse(text, options);
  if (value === undefined) return { protocol: expected ?? null, messages: [], problems };
  const found = findInValue(value, name, expected, options);
  return { ...found, problems: [...problems, ...found.problems] };
}

function findInValue(
  value: unknown,
  name: string,
  expected: Protocol | undefined,
  options: ProfileOptions,
): FoundMessages {
  const read = stateReader(name);
  if (read && (expected ?? "mailbox") === "mailbox") {
    return { protocol: "mailbox", messages: [], problems: read(value, options).problems };
  }
  if (Array.isArray(value)) return findInList(value, "", expected);
  const list = (value as { messages?: unknown }).messages;
  if (Array.isArray(list) && (expected ?? "mailbox") === "mailbox") {
    const { problems } = readMessageFile(value, options);
    return { protocol: "mailbox", messages: findInList(list, "messages", "mailbox").messages, problems };
  }
  const protocol = expected ?? detectProtocol(value)?.protocol;
  if (protocol === undefined)
    return noMessages(expected, "unknown_kind", "The file matches none of the four protocols.");
  return { protocol, messages: [{ path: "", protocol, value }], problems: [] };
}

function findInList(list: readonly unknown[], path: string, expected: Protocol | undefined): FoundMessages {
  const found: FoundMessages = { protocol: expected ?? null, messages: [], problems: [] };
  for (const [index, value] of list.entries()) {
    const at = `${path}[${index}]`;
    const protocol = expected ?? detectProtocol(value)?.protocol;
    if (protocol === undefined)
      found.problems.push(problem("unknown_kind", at, `${at} matches none of the protocols.`));
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
      if (block.repairs) found.problems.push(repairProblem(path, block.repairs, "warning"));
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

/** Falls back to `readTolerantly`, so that a text with a syntax error still gets all its other problems reported. */
function parse(text: string, { profile }: ProfileOptions): { value?: unknown; problems: TextProblem[] } {
  try {
    return { value: JSON.parse(text) as unknown, problems: [] };
  } catch (error) {
    const reading = readTolerantly(text);
    const reason = error instanceof Error ? error.message : String(error);
    if (!reading.ok || reading.truncated)
      return { problems: [problem("not_json", "", `The file is not valid JSON: ${reason}.`)] };
    const severity = profile === "strict" || reading.guessed ? "error" : "warning";
    return { value: reading.value, problems: [repairProblem("", reading.repairs, severity)] };
  }
}

const isWholeJson = (text: string): boolean => parseJson(text) !== undefined;

function repairProblem(path: string, repairs: readonly string[], severity: ProfileProblem["severity"]): TextProblem {
  const sentence = `The text is not valid JSON. It was read with these repairs: ${repairs.join(", ")}.`;
  return { code: "repaired", severity, path, sentence };
}

const problem = (code: string, path: string, sentence: string): TextProblem => ({
  code,
  severity: "error",
  path,
  sentence,
});

const noMessages = (protocol: Protocol | undefined, code: string, sentence: string): FoundMessages => ({
  protocol: protocol ?? null,
  messages: [],
  problems: [problem(code, "", sentence)],
});
