// OpenAI's Responses API, as Codex uses it.
import { event, faultFrame, paced, stopOf, usageOf, type Dialect, type FailedReply, type Frame } from "./dialect.ts";
import { locatePrompt, type Message, type ModelRequest } from "./model-request.ts";
import { openaiCall } from "./openai-call.ts";
import type { Failure, FailureName, Step } from "./step.ts";

interface Item {
  type?: string;
  role?: string;
  content?: string | { text?: string }[];
  output?: unknown;
}

interface Body {
  model: string;
  input: string | Item[];
  instructions?: string;
  tools?: { type: string; name?: string }[];
}

export const openai: Dialect = {
  vendor: "openai",

  read(json, headers) {
    const body = json as Body;
    const items = typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input;
    const systemTexts = items.filter(({ role }) => role === "developer" || role === "system").flatMap(textsOf);
    return {
      ...locatePrompt(items.flatMap(messageOf)),
      model: body.model,
      system: [body.instructions ?? "", ...systemTexts].join("\n"),
      tools: (body.tools ?? []).map((tool) => tool.name ?? tool.type),
      session: (headers["session-id"] ?? headers["session_id"])?.toString() ?? null,
    };
  },

  *stream(request, steps) {
    const response = emptyResponse(request);
    const output: object[] = [];
    yield event("response.created", { response });
    for (const step of steps) {
      if (step.kind === "fail") {
        const { error } = failed(step.failure).body as { error: object };
        yield event("response.failed", { response: { ...response, status: "failed", error } });
        return;
      }
      const item = itemOf(request, step, output.length);
      if (item === undefined) {
        yield faultFrame(step) ?? "";
        continue;
      }
      yield* itemFrames(step, item, output.length);
      output.push(item);
    }
    const ended = closing(request, steps, output);
    yield event(`response.${ended.status}`, { response: ended });
  },

  whole(request, steps) {
    const output: object[] = [];
    for (const step of steps) output.push(...[itemOf(request, step, output.length)].flatMap((item) => item ?? []));
    return closing(request, steps, output);
  },

  failed,
};

function messageOf(item: Item): Message[] {
  if (item.type?.endsWith("_output")) {
    const text = typeof item.output === "string" ? item.output : JSON.stringify(item.output);
    return [{ role: "user", texts: [], results: [text] }];
  }
  if (item.role === "user") return [{ role: "user", texts: textsOf(item) }];
  const isAssistant = item.role === "assistant" || item.type === "reasoning" || item.type?.endsWith("_call");
  return isAssistant ? [{ role: "assistant", texts: [] }] : [];
}

const textsOf = ({ content = [] }: Item): string[] =>
  typeof content === "string" ? [content] : content.map((part) => part.text ?? "");

const emptyResponse = (request: ModelRequest) => ({
  id: `resp_${request.number}`,
  object: "response",
  created_at: 0,
  model: request.model,
  status: "in_progress",
  output: [],
});

function closing(request: ModelRequest, steps: Step[], output: object[]) {
  const { input, output: written, cached } = usageOf(request, steps);
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: written,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: input + written,
  };
  const reason = { refusal: "content_filter", max_tokens: "max_output_tokens", none: "" }[stopOf(steps) ?? "none"];
  const end = reason === "" ? { status: "completed" } : { status: "incomplete", incomplete_details: { reason } };
  return { ...emptyResponse(request), ...end, output, usage };
}

function itemOf(request: ModelRequest, step: Step, index: number): object | undefined {
  const id = `${request.number}_${index}`;
  switch (step.kind) {
    case "text": {
      const content = [{ type: "output_text", text: step.text, annotations: [] }];
      return { type: "message", id: `msg_${id}`, role: "assistant", status: "completed", content };
    }
    case "thinking":
      return { type: "reasoning", id: `rs_${id}`, summary: [{ type: "summary_text", text: step.text }] };
    case "write":
    case "run":
    case "call":
    case "mcp":
      return openaiCall(request, step, id);
    default:
      return undefined;
  }
}

function* itemFrames(step: Step, item: object, index: number): Iterable<Frame> {
  const at = { output_index: index };
  if (step.kind === "text") {
    const { id, content } = item as { id: string; content: object[] };
    const part = { ...at, item_id: id, content_index: 0 };
    yield event("response.output_item.added", { ...at, item: { ...item, status: "in_progress", content: [] } });
    yield event("response.content_part.added", { ...part, part: { ...content[0], text: "" } });
    yield* paced(step, (delta) => event("response.output_text.delta", { ...part, delta }));
    yield event("response.output_text.done", { ...part, text: step.text });
  } else if (step.kind === "thinking") {
    const { id } = item as { id: string };
    const part = { ...at, item_id: id, summary_index: 0 };
    yield event("response.output_item.added", { ...at, item: { ...item, summary: [] } });
    yield event("response.reasoning_summary_part.added", { ...part, part: { type: "summary_text", text: "" } });
    yield* paced(step, (delta) => event("response.reasoning_summary_text.delta", { ...part, delta }));
    yield event("response.reasoning_summary_text.done", { ...part, text: step.text });
  } else {
    yield event("response.output_item.added", { ...at, item: { ...item, status: "in_progress" } });
  }
  yield event("response.output_item.done", { ...at, item });
}

const FAILURES: Record<FailureName, [status: number, code: string, message: string]> = {
  badRequest: [400, "invalid_request_error", "This request is not in order."],
  promptTooLong: [400, "context_length_exceeded", "Your input exceeds the context window of this model."],
  unauthorised: [401, "invalid_api_key", "Incorrect API key provided."],
  billing: [403, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."],
  rateLimit: [429, "rate_limit_exceeded", "Rate limit reached. Please try again in 1s."],
  serverError: [500, "server_error", "The server had an error while processing your request."],
  overloaded: [503, "server_is_overloaded", "Our servers are currently overloaded. Please try again later."],
};

function failed({ name, ...set }: Failure): FailedReply {
  const [status, code, message] = FAILURES[name];
  const headers: Record<string, string> =
    set.retryAfterSeconds === undefined ? {} : { "retry-after": String(set.retryAfterSeconds) };
  const body = { error: { type: code, code, message: set.message ?? message, param: null } };
  return { status: set.status ?? status, headers, body };
}
