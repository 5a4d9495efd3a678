// Anthropic's Messages API, as Claude Code uses it.
import { randomUUID } from "node:crypto";
import { event, faultFrame, paced, stopOf, usageOf, type Dialect, type FailedReply, type Frame } from "./dialect.ts";
import { locatePrompt, type Message, type ModelRequest } from "./model-request.ts";
import { say, type Failure, type FailureName, type Step } from "./step.ts";

interface Part {
  type: string;
  text?: string;
  content?: string | Part[];
}

interface Body {
  model: string;
  messages: { role: string; content: string | Part[] }[];
  system?: string | Part[];
  tools?: { name?: string; type?: string }[];
  output_config?: { format?: { type: string } };
}

export const anthropic: Dialect = {
  vendor: "anthropic",

  read(json, headers) {
    const body = json as Body;
    return {
      ...locatePrompt(body.messages.flatMap(messageOf)),
      model: body.model,
      system: textsOf(body.system ?? []).join("\n"),
      tools: (body.tools ?? []).map((tool) => tool.name ?? tool.type ?? ""),
      session: headers["x-claude-code-session-id"]?.toString() ?? null,
    };
  },

  *stream(request, steps) {
    const { input, output, cached } = usageOf(request, steps);
    const usage = { input_tokens: input, cache_creation_input_tokens: 0, cache_read_input_tokens: cached };
    const message = { ...emptyMessage(request), usage: { ...usage, output_tokens: 1, service_tier: "standard" } };
    let index = 0;
    yield event("message_start", { message });
    for (const step of steps) {
      const content = contentOf(step);
      if (step.kind === "fail") {
        yield event("error", failed(step.failure).body);
        return;
      }
      if (content) yield* contentFrames(step, content, index++);
      else yield faultFrame(step) ?? "";
    }
    yield event("message_delta", {
      delta: { stop_reason: stopReason(steps), stop_sequence: null },
      usage: { output_tokens: output },
    });
    yield event("message_stop", {});
  },

  whole(request, steps) {
    const { input, output, cached } = usageOf(request, steps);
    return {
      ...emptyMessage(request),
      content: steps.flatMap((step) => contentOf(step) ?? []),
      stop_reason: stopReason(steps),
      usage: { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output },
    };
  },

  failed,

  /** Claude Code may request a title for its session: a request without `tools` that wants JSON. */
  aside: ({ tools, body }) =>
    tools.length === 0 && (body as Body).output_config?.format?.type === "json_schema"
      ? [say(JSON.stringify({ title: "A scripted session" }))]
      : undefined,
};

function messageOf({ role, content }: Body["messages"][number]): Message[] {
  if (role !== "user" && role !== "assistant") return [];
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const results = parts.filter((part) => part.type === "tool_result");
  return [{ role, texts: textsOf(parts), results: results.map((part) => textsOf(part.content ?? "").join("\n")) }];
}

const textsOf = (content: string | Part[]): string[] =>
  typeof content === "string" ? [content] : content.flatMap((part) => (part.type === "text" ? [part.text ?? ""] : []));

const emptyMessage = (request: ModelRequest) => ({
  id: `msg_${request.number}_${randomUUID()}`,
  type: "message",
  role: "assistant",
  model: request.model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
});

function stopReason(steps: Step[]): string {
  return stopOf(steps) ?? (steps.some((step) => contentOf(step)?.type === "tool_use") ? "tool_use" : "end_turn");
}

function contentOf(step: Step) {
  const use = (name: string, input: object) => ({
    type: "tool_use" as const,
    id: `toolu_${randomUUID()}`,
    name,
    input,
  });
  switch (step.kind) {
    case "text":
      return { type: "text" as const, text: step.text };
    case "thinking":
      return { type: "thinking" as const, thinking: step.text, signature: "c2ln" };
    case "write":
      return use("Write", { file_path: step.path, content: step.content });
    case "run":
      return use("Bash", { command: step.command, description: "Run a command" });
    case "call":
      return use(step.tool, step.input);
    case "mcp":
      return use(`mcp__${step.server}__${step.tool}`, step.input);
    default:
      return undefined;
  }
}

function* contentFrames(step: Step, content: object, index: number): Iterable<Frame> {
  const delta = (delta: object) => event("content_block_delta", { index, delta });
  const start = (block: object) => event("content_block_start", { index, content_block: block });
  if (step.kind === "text") {
    yield start({ type: "text", text: "" });
    yield* paced(step, (text) => delta({ type: "text_delta", text }));
  } else if (step.kind === "thinking") {
    yield start({ type: "thinking", thinking: "", signature: "" });
    yield* paced(step, (thinking) => delta({ type: "thinking_delta", thinking }));
    yield delta({ type: "signature_delta", signature: "c2ln" });
  } else {
    const { input, ...call } = content as { input: object };
    yield start({ ...call, input: {} });
    const json = { kind: "text" as const, text: JSON.stringify(input) };
    yield* paced(json, (partial_json) => delta({ type: "input_json_delta", partial_json }));
  }
  yield event("content_block_stop", { index });
}

const FAILURES: Record<FailureName, [status: number, type: string, message: string]> = {
  badRequest: [400, "invalid_request_error", "messages: this request is not in order"],
  promptTooLong: [400, "invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"],
  unauthorised: [401, "authentication_error", "invalid x-api-key"],
  billing: [403, "billing_error", "Your credit balance is too low to access the Anthropic API."],
  rateLimit: [429, "rate_limit_error", "This request would exceed your account's rate limit."],
  serverError: [500, "api_error", "Internal server error"],
  overloaded: [529, "overloaded_error", "Overloaded"],
};

function failed({ name, ...set }: Failure): FailedReply {
  const [status, type, message] = FAILURES[name];
  const headers: Record<string, string> =
    set.retryAfterSeconds === undefined ? {} : { "retry-after": String(set.retryAfterSeconds) };
  const body = { type: "error", error: { type, message: set.message ?? message }, request_id: "req_scripted" };
  return { status: set.status ?? status, headers, body };
}
