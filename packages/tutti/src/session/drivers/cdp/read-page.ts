// Data of a page is untrusted: every value may have any type, and texts are truncated.
import type { TokenCounts } from "../../dialogue.ts";
import { recordOf } from "../../json-fields.ts";
import { readBusy, readReadiness } from "../../polled/session-controller.ts";

export interface Permission {
  /** `requestId` stays unchanged, because it is sent back to the page. */
  requestId: string | number;
  tool: string;
  input: unknown;
}

const MAX_PERMISSIONS = 20;
/** In characters. Escaped in JSON they may take six times as many, less than `MAX_LINE` of LineSplitter. */
const MAX_TEXT = 2 * 1024 * 1024;
const MAX_INPUT = 64 * 1024;
const MAX_SHOWN = 2000;
const MAX_NAME = 200;

/** Null if the page does not report whether the session is busy. */
export function readState(session: unknown): boolean | null {
  const { isRunning, busy, status } = recordOf(session);
  if (typeof isRunning !== "boolean" && typeof busy !== "boolean" && typeof status !== "string") return null;
  return readBusy(session) || readReadiness(session) === "starting";
}

export function readPermissions(session: unknown): Permission[] {
  const pending = recordOf(session)["pendingToolPermissions"];
  return (Array.isArray(pending) ? pending.slice(0, MAX_PERMISSIONS) : []).flatMap((each): Permission[] => {
    const { requestId, id, toolName, tool, name, input } = recordOf(each);
    const key = requestId ?? id;
    if (typeof key !== "string" && typeof key !== "number") return [];
    const toolText = [toolName, tool, name].find((text) => typeof text === "string");
    return [{ requestId: key, tool: shortName(toolText ?? "a tool"), input }];
  });
}

/** Keeps the end, because it contains the answer. */
export const boundedText = (text: string): string =>
  text.length <= MAX_TEXT
    ? text
    : `[the first ${text.length - MAX_TEXT} characters were omitted]\n${text.slice(-MAX_TEXT)}`;

export const shortName = (name: string): string => name.slice(0, MAX_NAME);

export function boundedInput(input: unknown): unknown {
  const text = asJson(input);
  return text.length <= MAX_INPUT ? (input ?? null) : { tooLong: text.slice(0, MAX_SHOWN) };
}

/** `shownInput` is for questions to the user. */
export const shownInput = (input: unknown): string => (input === undefined ? "" : asJson(input).slice(0, MAX_SHOWN));

function asJson(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    // Nested too deeply. The result exceeds MAX_INPUT, so `boundedInput` replaces the value.
    return "…".repeat(MAX_INPUT + 1);
  }
}

/**
 * Counts each answer of the model once: its parts may be in several messages that repeat the same numbers. Messages
 * that are no longer in the `transcript` stay counted.
 */
export function countUsage(transcript: unknown, counted: Map<string, TokenCounts>): void {
  const list = Array.isArray(transcript) ? transcript : recordOf(transcript)["messages"];
  if (!Array.isArray(list)) return;
  for (const [i, entry] of list.entries()) {
    const message = recordOf(entry);
    const inner = recordOf(message["message"]);
    const usage = recordOf(inner["usage"] ?? message["usage"]);
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
    const previous = counted.get(key) ?? { inputTokens: 0, outputTokens: 0 };
    counted.set(key, {
      inputTokens: Math.max(previous.inputTokens, tokens.inputTokens),
      outputTokens: Math.max(previous.outputTokens, tokens.outputTokens),
    });
  }
}

export function sumUsage(counted: ReadonlyMap<string, TokenCounts>): TokenCounts {
  let sum = { inputTokens: 0, outputTokens: 0 };
  for (const { inputTokens, outputTokens } of counted.values())
    sum = { inputTokens: sum.inputTokens + inputTokens, outputTokens: sum.outputTokens + outputTokens };
  return sum;
}

const amount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.min(value, MAX_AMOUNT) : 0;
const MAX_AMOUNT = 1e9;
