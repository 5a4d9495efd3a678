// What a page says of a session: somebody else's data. It is looked at, cut to a size that we can carry, and never
// believed to have a form.
import { asRecord } from "./devtools.ts";
import { readBusy, readReadiness } from "../../session-controller.ts";

/** A tool that the session wants to use and may not without an answer. */
export interface Permission {
  /** As the page gave it, because it goes back to the page. */
  requestId: string | number;
  tool: string;
  input: unknown;
}

const MAX_PERMISSIONS = 20;
/** Written as JSON a character may take six, and a line of ours has a limit. */
const MAX_TEXT = 2 * 1024 * 1024;
const MAX_INPUT = 64 * 1024;
const MAX_SHOWN = 2000;
const MAX_NAME = 200;

/** Whether the session is at work, or null if the page does not say. */
export function readState(session: unknown): boolean | null {
  const { isRunning, busy, status } = asRecord(session);
  if (typeof isRunning !== "boolean" && typeof busy !== "boolean" && typeof status !== "string") return null;
  return readBusy(session) || readReadiness(session) === "starting";
}

export function readPermissions(session: unknown): Permission[] {
  const pending = asRecord(session)["pendingToolPermissions"];
  return (Array.isArray(pending) ? pending.slice(0, MAX_PERMISSIONS) : []).flatMap((each): Permission[] => {
    const { requestId, id, toolName, tool, name, input } = asRecord(each);
    const own = requestId ?? id;
    if (typeof own !== "string" && typeof own !== "number") return [];
    const called = [toolName, tool, name].find((text) => typeof text === "string");
    return [{ requestId: own, tool: shortName(called ?? "a tool"), input }];
  });
}

/** The end is kept, because the answer stands there. */
export const boundedText = (text: string): string =>
  text.length <= MAX_TEXT
    ? text
    : `[the first ${text.length - MAX_TEXT} characters were left out]\n${text.slice(-MAX_TEXT)}`;

export const shortName = (name: string): string => name.slice(0, MAX_NAME);

/** What a tool was given, unless that is so much that nobody would look at it. */
export function boundedInput(input: unknown): unknown {
  const text = asJson(input);
  return text.length <= MAX_INPUT ? (input ?? null) : { tooLong: text.slice(0, MAX_SHOWN) };
}

/** What a tool was given, as a person is shown it. */
export const shownInput = (input: unknown): string => (input === undefined ? "" : asJson(input).slice(0, MAX_SHOWN));

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // Too deep to be written again.
    return "…".repeat(MAX_INPUT + 1);
  }
}

export interface Tokens {
  inputTokens: number;
  outputTokens: number;
}

/**
 * What the messages say that they cost, each answer of the model once: its parts may stand in several messages that
 * repeat the same numbers. What was counted before and is no longer in the transcript stays counted.
 */
export function countUsage(transcript: unknown, counted: Map<string, Tokens>): void {
  const list = Array.isArray(transcript) ? transcript : asRecord(transcript)["messages"];
  if (!Array.isArray(list)) return;
  for (const [i, entry] of list.entries()) {
    const message = asRecord(entry);
    const inner = asRecord(message["message"]);
    const usage = asRecord(inner["usage"] ?? message["usage"]);
    const tokens = {
      inputTokens:
        amount(usage["input_tokens"] ?? usage["inputTokens"]) +
        amount(usage["cache_creation_input_tokens"]) +
        amount(usage["cache_read_input_tokens"]),
      outputTokens: amount(usage["output_tokens"] ?? usage["outputTokens"]),
    };
    if (tokens.inputTokens + tokens.outputTokens === 0) continue;
    const names = [inner["id"], message["id"], message["uuid"]];
    const key = shortName(names.find((name) => typeof name === "string") ?? `#${i}`);
    const before = counted.get(key) ?? { inputTokens: 0, outputTokens: 0 };
    counted.set(key, {
      inputTokens: Math.max(before.inputTokens, tokens.inputTokens),
      outputTokens: Math.max(before.outputTokens, tokens.outputTokens),
    });
  }
}

export function sumUsage(counted: ReadonlyMap<string, Tokens>): Tokens {
  let sum = { inputTokens: 0, outputTokens: 0 };
  for (const { inputTokens, outputTokens } of counted.values())
    sum = { inputTokens: sum.inputTokens + inputTokens, outputTokens: sum.outputTokens + outputTokens };
  return sum;
}

const amount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.min(value, MAX_AMOUNT) : 0;
const MAX_AMOUNT = 1e9;
