// How the agent ended a prompt: what it used, and whether it went well. Not every failure comes as one.
import { countOf, isRecord, listOf, recordOf, textOf, type Fields } from "./fields.ts";
import { classifyFailure } from "../../classify-failure.ts";
import type { TurnFailure } from "../../dialogue.ts";

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
}

/** `trouble` is what the agent said after noting a failure of its own, `lastWords` its last message. */
export function failureOf(answer: Fields, trouble: string | null, lastWords: string): TurnFailure {
  if ("error" in answer) return failureOfError(answer["error"]);
  const result = recordOf(answer["result"]);
  const stopReason = textOf(result["stopReason"]);
  switch (stopReason) {
    case "end_turn": {
      if (trouble !== null) return described(trouble);
      return result["usage"] === null && isErrorText(lastWords) ? described(lastWords) : {};
    }
    case "max_tokens":
      return { error: "the answer was cut off at its greatest length", cause: "max_output" };
    case "max_turn_requests":
      return { error: "the agent reached its own limit of steps", cause: "max_turns" };
    case "refusal":
      return { error: "the model refused to go on", cause: "refusal" };
    case "cancelled":
      return { error: "the agent cancelled the turn" };
    default: {
      const error = `the agent ended its turn in an unknown way: ${(stopReason ?? "it gave no reason").slice(0, 200)}`;
      return { error, cause: "protocol" };
    }
  }
}

/** An answer that is nothing but an error as the provider wrote it. */
const isErrorText = (text: string): boolean => isRecord(parsed(text)["error"]) || /^API Error\b/.test(text.trim());

function described(text: string): TurnFailure {
  const sentence = sentenceOf(text);
  return {
    error: sentence === "" ? "the agent noted a failure and gave no reason" : sentence,
    ...classifyFailure(text),
  };
}

/** Numbers of HTTP come as they are from some agents; those of JSON-RPC are negative. */
export function failureOfError(error: unknown): TurnFailure {
  const { code, message, data } = recordOf(error);
  const text = [textOf(message) ?? "the agent answered with an error", wordsOf(data)]
    .filter((part) => part !== "")
    .join(": ");
  const status = typeof code === "number" && code >= 400 && code < 600 ? code : null;
  const classified = status === null ? classifyFailure(text) : classifyFailure(text, status);
  return {
    error: sentenceOf(text),
    ...classified,
    ...(code === AUTH_REQUIRED ? { cause: "auth" as const } : {}),
  };
}

/** The protocol's own number for an agent that nobody is logged in to. */
export const AUTH_REQUIRED = -32000;

function wordsOf(data: unknown): string {
  if (typeof data === "string") return data;
  const { details, message } = recordOf(data);
  return textOf(details) ?? textOf(message) ?? "";
}

const MAX_SENTENCE = 1000;

/** Errors are often JSON within text; the person wants its message. */
function sentenceOf(text: string): string {
  const inner = textOf(recordOf(parsed(text)["error"])["message"]);
  return (inner === null ? text.trim() : sentenceOf(inner)).slice(0, MAX_SENTENCE);
}

function parsed(text: string): Fields {
  try {
    return recordOf(JSON.parse(text));
  } catch {
    return {};
  }
}

/** What the turn used: of each model where the agent tells, which alone counts subagents; else of the whole turn. */
export function usageOf(result: Fields): TokenUsage | null {
  const quota = recordOf(recordOf(result["_meta"])["quota"]);
  const models = listOf(quota["model_usage"]).map((each) => tokensOf(each["token_count"]));
  const found = models.some((each) => each !== null)
    ? models
    : [tokensOf(result["usage"]) ?? tokensOf(quota["token_count"])];
  const counted = found.filter((each) => each !== null);
  if (counted.length === 0) return null;
  return {
    inputTokens: counted.reduce((sum, each) => sum + each.inputTokens, 0),
    outputTokens: counted.reduce((sum, each) => sum + each.outputTokens, 0),
  };
}

/** Whether what came out of a cache is part of the input differs between agents; the total holds it in any case. */
function tokensOf(value: unknown): TokenUsage | null {
  if (!isRecord(value)) return null;
  const outputTokens = countOf(value["outputTokens"] ?? value["output_tokens"]);
  const total = countOf(value["totalTokens"] ?? value["total_tokens"]);
  const input = countOf(value["inputTokens"] ?? value["input_tokens"]);
  return { inputTokens: Math.max(input, total - outputTokens), outputTokens };
}
