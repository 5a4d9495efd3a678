// `checkBody` validates one message, a list, or the text of an agent's answer with response blocks in it.
import { checkMessages, type ListedMessage, type TextProblem } from "../../protocol/canonical/check-messages.ts";
import type { Protocol } from "../../protocol/canonical/protocol-name.ts";
import type { ProfileOptions } from "../../protocol/response/profile.ts";
import { ResponseParser } from "../../protocol/response/response-parser.ts";
import { TuttiError } from "../../schema/error.ts";

/** Messages of one task are checked together, and the role `view` suffices, so a long list would block the server. */
const MAX_MESSAGES = 1000;

export interface CheckedMessages {
  valid: boolean;
  messages: number;
  problems: TextProblem[];
}

export function checkBody(protocol: Protocol, body: unknown, options: ProfileOptions): CheckedMessages {
  const { messages, problems } = messagesIn(protocol, body);
  const all = [...problems, ...checkMessages(messages, options)];
  const valid = messages.length > 0 && all.every(({ severity }) => severity !== "error");
  return { valid, messages: messages.length, problems: all };
}

interface FoundMessages {
  messages: ListedMessage[];
  problems: TextProblem[];
}

function messagesIn(protocol: Protocol, value: unknown): FoundMessages {
  if (protocol === "response" && typeof value === "string") return blocksIn(value);
  const list = Array.isArray(value)
    ? value.map((each: unknown, i) => ({ path: `[${i}]`, protocol, value: each }))
    : null;
  mustBeFew(list?.length ?? 1);
  if (list?.length === 0) return noMessages("The list is empty. Send at least one message.");
  return { messages: list ?? [{ path: "", protocol, value }], problems: [] };
}

function blocksIn(text: string): FoundMessages {
  const parser = new ResponseParser();
  mustBeFew(text.split(parser.delimiterStart).length - 1);
  const blocks = parser.parseMultiple(text);
  if (blocks.length === 0)
    return noMessages("The text has no block between the delimiters. Send the agent's whole answer.");
  const found: FoundMessages = { messages: [], problems: [] };
  for (const [index, { error, code, phase, data }] of blocks.entries()) {
    const path = `block ${index + 1}`;
    if (error === undefined) found.messages.push({ path, protocol: "response", value: { phase, data } });
    else found.problems.push({ code: code ?? "unreadable", severity: "error", path, sentence: `${error}.` });
  }
  return found;
}

function mustBeFew(count: number): void {
  if (count > MAX_MESSAGES)
    throw new TuttiError(
      "invalid_input",
      `The body has ${count} messages. Send at most ${MAX_MESSAGES}, or use "tutti validate".`,
    );
}

const noMessages = (sentence: string): FoundMessages => ({
  messages: [],
  problems: [{ code: "empty", severity: "error", path: "", sentence }],
});
