import { afterEach, describe, expect, test } from "vitest";
import { startModel, type ModelEndpoint, type Script } from "./model-endpoint.ts";
import { inOrder } from "./script.ts";
import { call, die, fail, hang, mcp, run, say, stall, stop, usage, wait, write, type FailureName } from "./step.ts";
import { askedFor, block, playRun } from "./tutti-run.ts";

const vendors = {
  anthropic: {
    path: "/v1/messages",
    first: (text: string) => ({ stream: true, messages: [{ role: "user", content: [{ type: "text", text }] }] }),
    called: { role: "assistant", content: [{ type: "tool_use", id: "a", name: "Bash", input: {} }] },
    answered: { role: "user", content: [{ type: "tool_result", tool_use_id: "a", content: "fine" }] },
    list: "messages",
    statuses: {
      badRequest: 400,
      promptTooLong: 400,
      unauthorised: 401,
      billing: 403,
      rateLimit: 429,
      serverError: 500,
      overloaded: 529,
    },
  },
  openai: {
    path: "/v1/responses",
    first: (text: string) => ({ stream: true, input: [{ role: "user", content: [{ type: "input_text", text }] }] }),
    called: { type: "function_call", call_id: "a", name: "exec_command", arguments: "{}" },
    answered: { type: "function_call_output", call_id: "a", output: "fine" },
    list: "input",
    statuses: {
      badRequest: 400,
      promptTooLong: 400,
      unauthorised: 401,
      billing: 403,
      rateLimit: 429,
      serverError: 500,
      overloaded: 503,
    },
  },
  gemini: {
    path: "/v1beta/models/some-model:streamGenerateContent",
    first: (text: string) => ({
      contents: [{ role: "user", parts: [{ text: "<session_context>\nhere\n</session_context>" }, { text }] }],
    }),
    called: { role: "model", parts: [{ functionCall: { name: "run_shell_command", args: {} } }] },
    answered: {
      role: "user",
      parts: [{ functionResponse: { name: "run_shell_command", response: { output: "fine" } } }],
    },
    list: "contents",
    statuses: {
      badRequest: 400,
      promptTooLong: 400,
      unauthorised: 401,
      billing: 403,
      rateLimit: 429,
      serverError: 500,
      overloaded: 503,
    },
  },
} as const;

let model: ModelEndpoint;
afterEach(() => model.close());

describe.each(Object.entries(vendors))("for %s the scripted model", (_, vendor) => {
  const ask = async (script: Script, body: object = vendor.first("Hello there"), signal?: AbortSignal) => {
    model = await startModel(script);
    return fetch(model.url + vendor.path, {
      method: "POST",
      body: JSON.stringify(body),
      ...(signal ? { signal } : {}),
    });
  };

  test("streams text, calls and the given usage", async () => {
    const calls = [write("a.md", "text"), run("ls -1"), call("Special", { n: 1 }), mcp("tutti", "ask_person")];
    const steps = [wait(1), say("words"), wait(1), ...calls, usage({ input: 4321, output: 765 })];
    const text = await (await ask(() => steps)).text();
    for (const part of ["words", "a.md", "ls -1", "Special", "tutti", "ask_person"]) expect(text).toContain(part);
    expect(text).toMatch(/4321[^]*765|765[^]*4321/);
    expect(model.requests).toMatchObject([{ prompt: "Hello there", step: 0, turn: 1, results: [] }]);
  });

  test("counts the assistant's turns since the newest prompt", async () => {
    const body = vendor.first("Hello there") as Record<string, object>;
    const more = { ...body, [vendor.list]: [...(body[vendor.list] as object[]), vendor.called, vendor.answered] };
    const text = await (await ask(inOrder([run("ls")], [say("done")]), more)).text();
    expect(text).toContain("done");
    expect(model.requests).toMatchObject([{ prompt: "Hello there", step: 1, turn: 1 }]);
    expect(model.requests[0]!.results.join()).toContain("fine");
  });

  test.each(Object.entries(vendor.statuses))("fails with %s", async (name, status) => {
    const response = await ask(() => [fail(name as FailureName, { retryAfterSeconds: 7 })]);
    expect(response.status).toBe(status);
    expect(response.headers.get("retry-after")).toBe("7");
  });

  test("breaks the connection in the middle of the stream", async () => {
    const response = await ask(() => [say("begun"), die()]);
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  test("stalls after the headers and before them", async () => {
    const stalled = await ask(() => [stall()]);
    expect(stalled.status).toBe(200);
    await model.close();
    await expect(ask(() => [hang()], undefined, AbortSignal.timeout(200))).rejects.toThrow("timeout");
    await expect.poll(() => model.requests[0]!.abandoned).toBe(true);
  });

  test("reports why an answer is incomplete", async () => {
    const cut = await (await ask(() => [say("cut"), stop("max_tokens")])).text();
    expect(cut).toMatch(/max_tokens|max_output_tokens|MAX_TOKENS/);
  });

  test("rejects and records a request that the script cannot answer", async () => {
    const response = await ask(inOrder());
    expect(response.status).toBe(400);
    expect(model.problems).toHaveLength(1);
  });
});

test("`askedFor` finds the block and the task in a prompt of Tutti", async () => {
  const script = playRun({ tasks: [{ id: "alpha" }] });
  model = await startModel(script);
  const prompt = 'Task alpha: …\n\nEnd with the "completion" block for alpha.\n\nReport no progress in between.';
  expect(askedFor({ prompt })).toEqual({ phase: "completion", task: "alpha" });
  const body = JSON.stringify(vendors.openai.first('Request: …\n\nEnd with the "task_list" block.'));
  const text = await (await fetch(`${model.url}/v1/responses`, { method: "POST", body })).text();
  expect(text).toContain(JSON.stringify(block("task_list", {}).split("\n")[0]).slice(1, -1));
  expect(text).toContain("alpha");
});
