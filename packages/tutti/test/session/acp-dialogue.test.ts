import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { AcpLab, whole } from "./acp-lab.ts";
import { Permissions } from "../../src/schema/permissions.ts";

const begun = async (permissions: Partial<Permissions> = {}, capabilities: object = {}): Promise<AcpLab> => {
  const lab = new AcpLab(permissions);
  await lab.begin(capabilities);
  return lab;
};

describe("The ACP dialogue with a model", () => {
  const opened = async (session: object): Promise<AcpLab> => {
    const lab = new AcpLab({}, undefined, "small");
    lab.dialogue.open();
    await lab.reply(() => ({ result: { protocolVersion: 1, agentCapabilities: {} } }));
    await lab.reply(() => ({ result: { sessionId: "c1", ...session } }));
    return lab;
  };

  test.each([
    [
      { configOptions: [{ id: "llm", category: "model", type: "select" }], models: {} },
      { method: "session/set_config_option", params: { sessionId: "c1", configId: "llm", value: "small" } },
    ],
    [
      { models: { availableModels: [] } },
      { method: "session/set_model", params: { sessionId: "c1", modelId: "small" } },
    ],
  ])("sets it before the first prompt: %j", async (session, expected) => {
    const lab = await opened(session);
    expect(await lab.reply(() => ({ result: {} }))).toMatchObject(expected);
    await lab.settled(() => lab.isReady);
    expect(lab.failures).toEqual([]);
  });

  test("fails if the agent has no choice of models, or rejects this one", async () => {
    const without = await opened({});
    await without.settled(() => without.failures.length > 0);
    expect(without.failures).toEqual(["it has no choice of models. Put the model small into its command"]);
    const other = await opened({ models: {} });
    await other.reply(() => ({ error: { code: -32602, message: "unknown model" } }));
    await other.settled(() => other.failures.length > 0);
    expect(other.failures[0]).toContain("unknown model");
  });
});

describe("The ACP dialogue at the end of a turn", () => {
  const ended = async (answer: object, before: (lab: AcpLab) => void = () => {}) => {
    const lab = await begun();
    const { id } = await lab.prompt();
    before(lab);
    lab.hear({ id, ...answer });
    return lab.told.filter(({ type }) => type === "turn_end");
  };
  const error = (code: number, message: string, data?: unknown) => ({ error: { code, message, data } });

  test.each([
    [{ result: { stopReason: "end_turn" } }, {}],
    [{ result: { stopReason: "end_turn", usage: null } }, {}],
    [{ result: { stopReason: "max_tokens" } }, { cause: "max_output" }],
    [{ result: { stopReason: "max_turn_requests" } }, { cause: "max_turns" }],
    [{ result: { stopReason: "refusal" } }, { cause: "refusal" }],
    [{ result: { stopReason: "cancelled" } }, { error: "the agent cancelled the turn" }],
    [
      { result: { stopReason: "tired" } },
      { error: "the agent ended its turn for an unknown reason: tired", cause: "protocol" },
    ],
    [{ result: 5 }, { cause: "protocol" }],
    [{}, { cause: "protocol" }],
    [error(400, '{"error":{"code":400,"message":"bad"}}'), { error: "bad", cause: "invalid_request" }],
    [error(401, "who are you"), { cause: "auth" }],
    [error(403, "not you"), { cause: "auth" }],
    [error(429, "Please retry in 17.5s."), { cause: "rate_limit", retryAfterMs: 17_500 }],
    [error(429, "You exceeded your current quota"), { cause: "usage_limit" }],
    [error(500, "oops"), { cause: "api" }],
    [error(503, "busy"), { cause: "overloaded" }],
    [error(529, "busy"), { cause: "overloaded" }],
    [
      error(-32603, "Internal error", { details: "API Error: 529 x" }),
      { error: "Internal error: API Error: 529 x", cause: "overloaded" },
    ],
    [error(-32603, "prompt is too long: 250000 tokens"), { cause: "context" }],
    [error(-32000, "Authentication required"), { cause: "auth" }],
  ])("reads %j as %j", async (answer, meaning) => {
    const [end, ...more] = await ended(answer);
    expect(end).toMatchObject({ type: "turn_end", ...meaning });
    expect("error" in end!).toBe(Object.keys(meaning).length > 0);
    expect(more).toEqual([]);
  });

  test("reports a failure if the message is only an error and no tokens were counted", async () => {
    const answer = { result: { stopReason: "end_turn", usage: null } };
    const [end] = await ended(answer, (lab) => lab.say('{"error":{"message":"rate limit reached"}}'));
    expect(end).toEqual({ type: "turn_end", error: "rate limit reached", cause: "rate_limit" });
  });

  test("reports the end once and ignores later messages", async () => {
    const end = await ended({ result: { stopReason: "end_turn" } }, (lab) => {
      lab.hear({ id: 2, result: { stopReason: "refusal" } });
      lab.say("too late");
    });
    expect(end).toEqual([{ type: "turn_end", error: "the model refused to continue", cause: "refusal" }]);
  });
});

test("A repeated answer to one turn does not end the next turn", async () => {
  const lab = await begun();
  const { id } = await lab.prompt();
  lab.hear({ id, result: { stopReason: "end_turn" } });
  lab.told.splice(0);
  lab.dialogue.turn({ number: 2, text: "and now this" });
  lab.hear({ id, result: { stopReason: "end_turn" } });
  expect(lab.told).toEqual([]);
});

describe("An unusable ACP agent", () => {
  test("fails with the version if it uses another version of the protocol", async () => {
    const lab = new AcpLab();
    lab.dialogue.open();
    await lab.reply(() => ({ result: { protocolVersion: 9 } }));
    await lab.settled(() => lab.failures.length > 0);
    expect(lab.failures).toEqual(["it uses version 9 of the protocol, but Tutti supports version 1"]);
    // The exit that follows is caused by the keeper.
    lab.dialogue.exited({ code: null, signal: "SIGTERM", errors: "" });
    expect(lab.failures).toHaveLength(1);
    expect(lab.isReady).toBe(false);
  });

  test.each([
    [null, { result: 5 }, "it uses version undefined of the protocol, but Tutti supports version 1"],
    [{ agentInfo: 3, authMethods: "x" }, { result: { sessionId: 7 } }, "it started a conversation without an id"],
  ])("fails with the reason if its answers are invalid: %j, %j", async (hello, answer, failure) => {
    const lab = new AcpLab();
    lab.dialogue.open();
    await lab.reply(() => (hello ? { result: { protocolVersion: 1, ...hello } } : answer));
    if (hello) await lab.reply(() => answer);
    await lab.settled(() => lab.failures.length > 0);
    expect(lab.failures).toEqual([failure]);
  });

  test("that is not logged in fails with instructions and receives no `authenticate`", async () => {
    const lab = new AcpLab();
    lab.dialogue.open();
    const agentInfo = { name: "some-agent", title: "Some Agent", version: "1" };
    const authMethods = [
      { id: "a", name: "A browser" },
      { id: "b", name: "A key" },
    ];
    await lab.reply(() => ({ result: { protocolVersion: 1, agentInfo, authMethods } }));
    await lab.reply(() => ({ error: { code: -32000, message: "Authentication required" } }));
    await lab.settled(() => lab.failures.length > 0);
    expect(lab.failures).toEqual([
      "it is not logged in (Authentication required). Start Some Agent in a terminal and log in, or set its key in the environment. Its login methods: A browser, A key.",
    ]);
    expect(lab.wrote).toEqual([]);
  });
});

test("An answer is complete even if the process exits right after it", async () => {
  const lab = await begun();
  const { id } = await lab.prompt();
  lab.say("the last ");
  lab.say("words");
  lab.hear({ id, result: { stopReason: "end_turn" } });
  // Synchronously, like the keeper.
  expect(whole(lab.told)).toEqual([{ type: "assistant", text: "the last words" }, { type: "turn_end" }]);
  lab.dialogue.exited({ code: 0, signal: null, errors: "" });
  await sleep(20);
  expect(lab.failures).toEqual([]);
  expect(whole(lab.told)).toHaveLength(2);
});

test("A message ends at the next message and at a tool call, whose result or failure is reported once", async () => {
  const lab = await begun();
  const { id } = await lab.prompt();
  lab.say("one ", { messageId: "a" });
  lab.say("message", { messageId: "a" });
  lab.say("another", { messageId: "b" });
  lab.update({ sessionUpdate: "tool_call", toolCallId: "t", title: "List", kind: "search", status: "in_progress" });
  const text = { type: "text", text: "no such folder" };
  const failed = { sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed" };
  lab.update({ ...failed, content: [{ type: "content", content: text }] });
  lab.update(failed);
  lab.update({ sessionUpdate: "tool_call", toolCallId: "u", title: "Read", kind: "read", status: "in_progress" });
  const read = { sessionUpdate: "tool_call_update", toolCallId: "u", status: "completed", rawOutput: "two lines" };
  lab.update(read);
  lab.update(read);
  lab.say("the last");
  lab.say(" of a subagent", { _meta: { claudeCode: { parentToolUseId: "t" } } });
  lab.hear({ id, result: { stopReason: "end_turn" } });
  expect(whole(lab.told)).toEqual([
    { type: "assistant", text: "one message" },
    { type: "assistant", text: "another" },
    { type: "tool", id: "t", name: "Search", input: { title: "List" } },
    { type: "tool_failed", id: "t", error: "no such folder" },
    { type: "tool", id: "u", name: "Read", input: { title: "Read" } },
    { type: "tool_result", id: "u", text: "two lines" },
    { type: "assistant", text: "the last" },
    { type: "turn_end" },
  ]);
});

test("An endless message is split, so that it cannot exhaust the memory", async () => {
  const lab = await begun();
  const { id } = await lab.prompt();
  const piece = "x".repeat(3 * 1024 * 1024);
  for (let i = 0; i < 5; i += 1) lab.say(piece);
  lab.hear({ id, result: { stopReason: "end_turn" } });
  const lengths = whole(lab.told).flatMap((line) => (line.type === "assistant" ? [line.text.length] : []));
  expect(lengths).toEqual([2, 2, 1].map((pieces) => pieces * piece.length));
});

test("Updates outside a turn or of another conversation are ignored", async () => {
  const lab = await begun();
  lab.say("before any turn");
  const { id } = await lab.prompt();
  lab.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text: "another's" } }, "c2");
  lab.hear({ id, result: { stopReason: "end_turn" } });
  lab.say("afterwards");
  expect(lab.told).toEqual([{ type: "turn_end" }]);
});

describe("The usage of an ACP agent", () => {
  const used = async (results: { result: object; cost?: number }[]) => {
    const lab = await begun();
    const lines = [];
    for (const [i, { result, cost }] of results.entries()) {
      const { id } = await lab.prompt("go", i + 1);
      if (cost !== undefined) lab.update({ sessionUpdate: "usage_update", cost: { amount: cost, currency: "USD" } });
      lab.hear({ id, result: { stopReason: "end_turn", ...result } });
      lines.push(...lab.told.filter(({ type }) => type === "usage"));
    }
    return lines;
  };

  test("is summed over all models and includes cached tokens", async () => {
    const models = [
      { model: "a", token_count: { input_tokens: 100, output_tokens: 10 } },
      { model: "b", token_count: { totalTokens: 75, inputTokens: 20, cachedInputTokens: 50, outputTokens: 5 } },
    ];
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    expect(await used([{ result: { usage, _meta: { quota: { model_usage: models } } } }])).toEqual([
      { type: "usage", inputTokens: 170, outputTokens: 15 },
    ]);
    expect(await used([{ result: { usage } }, { result: { usage: null } }, { result: { usage: "x" } }])).toEqual([
      { type: "usage", inputTokens: 1, outputTokens: 1 },
    ]);
  });

  test("has the size of the conversation, also without counts of tokens", async () => {
    const lab = await begun();
    const { id } = await lab.prompt("go", 1);
    lab.update({ sessionUpdate: "usage_update", used: 300, size: 1000 });
    lab.hear({ id, result: { stopReason: "end_turn" } });
    expect(lab.told.filter(({ type }) => type === "usage")).toEqual([
      { type: "usage", inputTokens: 0, outputTokens: 0, contextTokens: 300, contextWindow: 1000 },
    ]);
  });

  test("contains only the cost since the last report, although the agent reports totals", async () => {
    const usage = { inputTokens: 1, outputTokens: 1 };
    const lines = await used([0.25, 0.75, 0.75, 0.5].map((cost) => ({ result: { usage }, cost })));
    expect(lines.map((line) => (line.type === "usage" ? line.usd : null))).toEqual([0.25, 0.5, undefined, 0.5]);
  });
});

describe("A permission request", () => {
  const OPTIONS = [
    { optionId: "1", name: "Always", kind: "allow_always" },
    { optionId: "2", name: "Once", kind: "allow_once" },
    { optionId: "3", name: "No", kind: "reject_once" },
  ];
  const wish = (toolCall: object, options: object[] = OPTIONS) => ({
    id: 7,
    method: "session/request_permission",
    params: { sessionId: "c1", toolCall: { toolCallId: "t", ...toolCall }, options },
  });
  const inside = { path: "/home/dev/project/a" };
  const outside = { path: "/home/dev/b" };

  test.each([
    ["to read a file of the workspace", { kind: "read", locations: [inside] }, {}, "2"],
    ["to change a file of the workspace", { kind: "edit", locations: [inside] }, {}, "2"],
    [
      "to move a file into the workspace, in mode `all`",
      { kind: "move", locations: [inside, outside] },
      { mode: "all" },
      "2",
    ],
    [
      "for a listed command",
      { kind: "execute", rawInput: { command: ["npm", "test"] } },
      { allow: ["Bash(npm test)"] },
      "2",
    ],
    [
      "for a command that is not listed",
      { kind: "execute", title: "npm start" },
      { mode: "listed", allow: ["Bash(npm test)"] },
      "3",
    ],
    ["for a tool with its own name", { name: "Shell", kind: "execute", title: "ls" }, { refuse: ["Shell"] }, "3"],
    [
      "for one refused file of several",
      { kind: "edit", locations: [inside, outside] },
      { mode: "all", refuse: ["Edit(*/b)"] },
      "3",
    ],
  ] as const)(
    "%s is decided by the run's permissions, for this request only",
    async (_, toolCall, settings, optionId) => {
      const lab = await begun(settings as Partial<Permissions>);
      await lab.prompt();
      lab.hear(wish(toolCall));
      expect(await lab.taken()).toMatchObject({ id: 7, result: { outcome: { outcome: "selected", optionId } } });
      expect(lab.told.some(({ type }) => type === "ask")).toBe(false);
      expect(lab.told.some(({ type }) => type === "tool")).toBe(optionId === "2");
    },
  );

  test.each([
    ["Once", { outcome: "selected", optionId: "2" }],
    ["always", { outcome: "selected", optionId: "1" }],
    ["no", { outcome: "selected", optionId: "3" }],
    ["yes, go on", { outcome: "selected", optionId: "2" }],
    ["yesterday you did it wrong", { outcome: "selected", optionId: "3" }],
    ["", { outcome: "selected", optionId: "3" }],
  ])("that the user answers with %j selects the matching option", async (text, outcome) => {
    const lab = await begun();
    await lab.prompt();
    lab.hear(wish({ kind: "edit", title: "Move it", locations: [inside, outside] }));
    await lab.settled(() => lab.told.length > 0);
    expect(lab.told).toEqual([
      {
        type: "ask",
        id: "permission-1",
        question: "May the agent use Edit: /home/dev/project/a, /home/dev/b?",
        options: ["Once", "Always", "No"],
        permission: { tool: "Edit", subject: "/home/dev/project/a, /home/dev/b" },
      },
    ]);
    lab.dialogue.answer("permission-1", text);
    lab.dialogue.answer("permission-1", "Always");
    expect(await lab.taken()).toMatchObject({ result: { outcome } });
  });

  test("to read outside the workspace goes to the user", async () => {
    const lab = await begun();
    await lab.prompt();
    lab.hear(wish({ kind: "read", locations: [inside, outside] }));
    await lab.settled(() => lab.told.length > 0);
    expect(lab.told).toMatchObject([{ type: "ask", permission: { tool: "Read" } }]);
  });

  test("is withdrawn when the agent cancels it and when its turn ends", async () => {
    const lab = await begun();
    const { id } = await lab.prompt();
    lab.hear(wish({ kind: "execute", title: "ls" }));
    lab.hear({ ...wish({ kind: "execute", title: "pwd" }), id: 8 });
    await lab.settled(() => lab.told.length === 2);
    lab.hear({ method: "$/cancel_request", params: { requestId: 7 } });
    await lab.settled(() => lab.told.length === 3);
    lab.hear({ id, result: { stopReason: "cancelled" } });
    expect(lab.told.slice(2)).toEqual([
      { type: "ask_cancelled", id: "permission-1" },
      { type: "ask_cancelled", id: "permission-2" },
      { type: "turn_end", error: "the agent cancelled the turn" },
    ]);
  });

  test("is withdrawn when the turn is interrupted, and the agent receives both messages", async () => {
    const lab = await begun();
    await lab.prompt();
    lab.hear(wish({ kind: "execute", title: "ls" }));
    await lab.settled(() => lab.told.length === 1);
    lab.dialogue.interrupt();
    expect(lab.told[1]).toEqual({ type: "ask_cancelled", id: "permission-1" });
    expect(await lab.taken()).toMatchObject({ method: "session/cancel", params: { sessionId: "c1" } });
    expect(await lab.taken()).toMatchObject({ id: 7, result: { outcome: { outcome: "cancelled" } } });
  });

  test("outside a turn or of another conversation is cancelled", async () => {
    const lab = await begun({ mode: "all" });
    lab.hear(wish({ kind: "read" }));
    expect(await lab.taken()).toMatchObject({ id: 7, result: { outcome: { outcome: "cancelled" } } });
  });

  test("without a matching option is cancelled", async () => {
    const lab = await begun({ mode: "listed" });
    await lab.prompt();
    lab.hear(wish({ kind: "execute" }, OPTIONS.slice(0, 2)));
    expect(await lab.taken()).toMatchObject({ result: { outcome: { outcome: "cancelled" } } });
  });
});

describe("A conversation whose process died", () => {
  const taken = async (capabilities: object) => {
    const lab = await begun({}, capabilities);
    await lab.prompt();
    expect(lab.dialogue.relaunch!()).toEqual(["agent", "--acp"]);
    lab.dialogue.open();
    await lab.reply(() => ({ result: { protocolVersion: 1, agentCapabilities: capabilities } }));
    return lab;
  };

  test("is resumed without its history if the agent supports that, and loaded otherwise", async () => {
    const load = { loadSession: true };
    const resume = { ...load, sessionCapabilities: { resume: {} } };
    expect(await (await taken(resume)).taken()).toMatchObject({
      method: "session/resume",
      params: { sessionId: "c1" },
    });
    expect(await (await taken(load)).taken()).toMatchObject({ method: "session/load", params: { sessionId: "c1" } });
  });

  test("is ready after its history was replayed, and passes nothing of the history on", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "performance"] });
    onTestFinished(() => void vi.useRealTimers());
    const lab = await taken({ loadSession: true });
    lab.isReady = false;
    lab.told.splice(0);
    lab.say("old words");
    await lab.reply(() => ({ result: {} }));
    lab.say("more old words");
    await vi.advanceTimersByTimeAsync(300);
    lab.say("the last old words");
    await vi.advanceTimersByTimeAsync(400);
    expect(lab.isReady).toBe(false);
    await vi.advanceTimersByTimeAsync(1000);
    expect(lab.isReady).toBe(true);
    expect(whole(lab.told)).toMatchObject([{ type: "ready", conversation: "c1" }]);
  });

  test("ends if the agent supports neither", async () => {
    const lab = await begun();
    expect(lab.dialogue.relaunch!()).toBeNull();
  });
});
