// `failureOf` and `usageOf` read the answer to a prompt. Some agents report a failure as a successful answer.
import { countOf, listOf, parseRecord, recordOf, textOf, textOrNull, type Fields } from "../../json-fields.ts";
import { isRecord } from "../../../protocol/json/json-value.ts";
import { classifyFailure, providerSentence } from "../../classify-failure.ts";
import type { DialogueFailure, TokenCounts } from "../../dialogue.ts";

/** `trouble` is the agent's text after it reported an internal failure, `lastWords` its last message. */
export function failureOf(answer: Fields, trouble: string | null, lastWords: string): DialogueFailure {
  if ("error" in answer) return failureOfError(answer["error"]);
  const result = recordOf(answer["result"]);
  const stopReason = textOrNull(result["stopReason"]);
  switch (stopReason) {
    case "end_turn": {
      if (trouble !== null) return described(trouble);
      return result["usage"] === null && isErrorText(lastWords) ? described(lastWords) : {};
    }
    case "max_tokens":
      return { error: "the answer was truncated at its maximum length", cause: "max_output" };
    case "max_turn_requests":
      return { error: "the agent reached its own limit of requests per turn", cause: "max_turns" };
    case "refusal":
      return { error: "the model refused to continue", cause: "refusal" };
    case "cancelled":
      return { error: "the agent cancelled the turn" };
    default: {
      const error = `the agent ended its turn for an unknown reason: ${(stopReason ?? "none given").slice(0, 200)}`;
      return { error, cause: "protocol" };
    }
  }
}

const isErrorText = (text: string): boolean => isRecord(parseRecord(text)["error"]) || /^API Error\b/.test(text.trim());

function described(text: string): DialogueFailure {
  const sentence = providerSentence(text);
  return {
    error: sentence === "" ? "the agent reported a failure without a reason" : sentence,
    ...classifyFailure(text),
  };
}

/** Some agents use HTTP statuses as `code` in `failureOfError`; codes of JSON-RPC are negative. */
export function failureOfError(error: unknown): DialogueFailure {
  const { code, message, data } = recordOf(error);
  const text = [textOrNull(message) ?? "the agent answered with an error", wordsOf(data)]
    .filter((part) => part !== "")
    .join(": ");
  const status = typeof code === "number" && code >= 400 && code < 600 ? code : null;
  const classified = status === null ? classifyFailure(text) : classifyFailure(text, status);
  return {
    error: providerSentence(text),
    ...classified,
    ...(code === AUTH_REQUIRED ? { cause: "auth" as const } : {}),
  };
}

/** `AUTH_REQUIRED` is the protocol's error code of an agent that is not logged in. */
export const AUTH_REQUIRED = -32000;

function wordsOf(data: unknown): string {
  if (typeof data === "string") return data;
  const { details, message } = recordOf(data);
  return textOrNull(details) ?? textOf(message);
}

/** Prefers `model_usage`, because only the counts per model include subagents. */
export function usageOf(result: Fields): TokenCounts | null {
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

/** Some agents leave cached tokens out of `inputTokens`, but the total always includes them. */
function tokensOf(value: unknown): TokenCounts | null {
  if (!isRecord(value)) return null;
  const outputTokens = countOf(value["outputTokens"] ?? value["output_tokens"]);
  const total = countOf(value["totalTokens"] ?? value["total_tokens"]);
  const input = countOf(value["inputTokens"] ?? value["input_tokens"]);
  return { inputTokens: Math.max(input, total - outputTokens), outputTokens };
}
