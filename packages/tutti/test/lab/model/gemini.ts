// Google's generateContent API, as the Gemini CLI uses it.
import { deltas, faultFrame, stopOf, usageOf, type Dialect, type FailedReply } from "./dialect.ts";
import { locatePrompt, type Message, type ModelRequest } from "./model-request.ts";
import { say, type Failure, type FailureName, type Step } from "./step.ts";

interface Part {
  text?: string;
  functionResponse?: { response?: unknown };
}

interface Body {
  contents: { role?: string; parts?: Part[] }[];
  systemInstruction?: { parts?: Part[] };
  tools?: { functionDeclarations?: { name: string }[] }[];
  generationConfig?: { responseMimeType?: string };
}

export const gemini: Dialect = {
  vendor: "gemini",

  read(json, _headers, path) {
    const body = json as Body;
    return {
      ...locatePrompt(body.contents.map(messageOf)),
      model: /models\/([^:]+):/.exec(path)?.[1] ?? "",
      system: textsOf(body.systemInstruction?.parts).join("\n"),
      tools: (body.tools ?? []).flatMap((tool) => (tool.functionDeclarations ?? []).map(({ name }) => name)),
      session: null,
    };
  },

  *stream(request, steps) {
    const frame = (candidate: object) => `data: ${JSON.stringify(reply(request, steps, candidate))}\n\n`;
    const content = (parts: object[]) => ({ content: { role: "model", parts }, index: 0 });
    for (const step of steps) {
      if (step.kind === "fail") {
        yield `data: ${JSON.stringify(failed(step.failure).body)}\n\n`;
        return;
      }
      for (const part of partsOf(step)) {
        yield frame(content([part]));
        if (step.kind === "text" && step.paceMs !== undefined) yield { wait: step.paceMs };
      }
      yield faultFrame(step) ?? "";
    }
    yield frame({ ...content([{ text: "" }]), finishReason: finishReason(steps) });
  },

  whole(request, steps) {
    const content = { role: "model", parts: steps.flatMap(partsOf) };
    return reply(request, steps, { content, finishReason: finishReason(steps), index: 0 });
  },

  failed,

  /** The Gemini CLI first asks, for example, which model to use. All such requests want JSON. */
  aside: ({ body }) =>
    (body as Body).generationConfig?.responseMimeType === "application/json" ? [say(JSON.stringify(ASIDE))] : undefined,
};

/** Fits all minor requests. */
const ASIDE = {
  reasoning: "scripted",
  next_speaker: "user",
  model_choice: "flash",
  complexity_reasoning: "simple",
  complexity_score: 10,
  unproductive_state_analysis: "",
  unproductive_state_confidence: 0,
};

function messageOf({ role, parts = [] }: Body["contents"][number]): Message {
  const responses = parts.flatMap((part) => (part.functionResponse ? [JSON.stringify(part.functionResponse)] : []));
  return { role: role === "model" ? "assistant" : "user", texts: textsOf(parts), results: responses };
}

const textsOf = (parts: Part[] = []): string[] => parts.flatMap((part) => (part.text === undefined ? [] : [part.text]));

function reply(request: ModelRequest, steps: Step[], candidate: object): object {
  const { input, output, cached } = usageOf(request, steps);
  return {
    candidates: [candidate],
    usageMetadata: {
      promptTokenCount: input,
      cachedContentTokenCount: cached,
      candidatesTokenCount: output,
      totalTokenCount: input + output,
    },
    modelVersion: request.model,
    responseId: `scripted_${request.number}`,
  };
}

const finishReason = (steps: Step[]): string =>
  ({ refusal: "SAFETY", max_tokens: "MAX_TOKENS", none: "STOP" })[stopOf(steps) ?? "none"];

function partsOf(step: Step): object[] {
  const call = (name: string, args: object) => [{ functionCall: { name, args } }];
  switch (step.kind) {
    case "text":
      return deltas(step.text).map((text) => ({ text }));
    case "thinking":
      return [{ text: step.text, thought: true }];
    case "write":
      return call("write_file", { file_path: step.path, content: step.content });
    case "run":
      return call("run_shell_command", { command: step.command, description: "Run a command" });
    case "call":
      return call(step.tool, step.input);
    case "mcp":
      return call(`mcp_${step.server}_${step.tool}`, step.input);
    default:
      return [];
  }
}

const FAILURES: Record<FailureName, [status: number, code: string, message: string]> = {
  badRequest: [400, "INVALID_ARGUMENT", "This request is not in order."],
  promptTooLong: [400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed."],
  unauthorised: [401, "UNAUTHENTICATED", "API key not valid. Please pass a valid API key."],
  billing: [403, "PERMISSION_DENIED", "This API method requires billing to be enabled."],
  rateLimit: [429, "RESOURCE_EXHAUSTED", "You exceeded your current quota. Please retry in 1s."],
  serverError: [500, "INTERNAL", "An internal error has occurred."],
  overloaded: [503, "UNAVAILABLE", "The model is overloaded. Please try again later."],
};

function failed({ name, ...set }: Failure): FailedReply {
  const [usual, code, message] = FAILURES[name];
  const status = set.status ?? usual;
  const headers: Record<string, string> =
    set.retryAfterSeconds === undefined ? {} : { "retry-after": String(set.retryAfterSeconds) };
  return { status, headers, body: { error: { code: status, message: set.message ?? message, status: code } } };
}
