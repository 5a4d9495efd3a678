// Plays recordings of the real Claude Code program to the dialogue. Irrelevant lists in them were shortened.
import { afterEach, describe, expect, test, vi } from "vitest";
import { ClaudeLab } from "./claude-lab.ts";
import type { AgentLine } from "../../src/session/dialogue.ts";

afterEach(() => {
  vi.useRealTimers();
});

/** The program has exited by itself. */
const EXIT = { code: 1, signal: null, errors: "" };

function playedToTheEnd(name: string): ClaudeLab {
  const lab = new ClaudeLab();
  lab.play(name);
  lab.dialogue.exited(EXIT);
  return lab;
}

const WELL = { type: "turn_end" };

describe("The output of Claude Code", () => {
  test("contains whole messages of the model as text, without replayed or synthetic ones", () => {
    const lab = new ClaudeLab();
    lab.play("claude-two-turns");
    expect(lab.words()).toEqual([
      "Hello from the fake model. All is well.",
      "I will write the file.",
      "Done: wrote /home/dev/project/two.txt.",
    ]);
    expect(lab.of("turn_end")).toEqual([WELL, WELL]);
    expect(lab.of("tool").map(({ name }) => name)).toEqual(["Write"]);
  });

  test("contains pieces of a message as partial text", () => {
    const lab = new ClaudeLab();
    lab.play("claude-two-turns");
    const parts = lab.of("assistant").flatMap(({ text, partial }) => (partial ? [text] : []));
    expect(parts.join("")).toContain("Hello from the fake model. All is well.");
  });

  test.each(["claude-err-e529then", "claude-err-toolong"])("of %s is read the same at any chunk size", (name) => {
    const whole = new ClaudeLab();
    const lines = whole.play(name);
    whole.dialogue.exited(EXIT);
    expect(whole.of("turn_end")).toHaveLength(1);
    for (const bytes of [1, 997]) {
      const lab = new ClaudeLab();
      lab.shakeHands();
      lab.turn();
      lab.hearCut(lines, bytes);
      lab.dialogue.exited(EXIT);
      expect(lab.told).toEqual(whole.told);
    }
  });

  test("may contain lines that are not messages and unknown messages, which are ignored", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    lab.turn();
    const before = lab.told.length;
    lab.hear("Warning: no stdin", "[1,2", "null", { type: "ui_invalidate" }, { type: "system", subtype: "new_thing" });
    lab.hear({ type: "assistant" }, { type: "user", message: "?" }, { type: "stream_event", event: 7 });
    expect(lab.told.length).toBe(before);
    expect(lab.failures).toEqual([]);
  });

  test("outside a turn yields only usage", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    const own = { type: "assistant", parent_tool_use_id: null, message: { content: [{ type: "text", text: "Hm." }] } };
    lab.hear(own, result({ model_usage_since_last_result: { m: { inputTokens: 5, outputTokens: 1, costUSD: 0.1 } } }));
    expect(lab.words()).toEqual([]);
    expect(lab.of("usage")).toEqual([{ type: "usage", inputTokens: 5, outputTokens: 1, usd: 0.1 }]);
    expect(lab.of("turn_end")).toEqual([]);
  });
});

describe("The start of Claude Code", () => {
  test("is ready when `initialize` was answered, and not before (E80)", () => {
    const lab = new ClaudeLab();
    expect(lab.said).toMatchObject([{ type: "control_request", request: { subtype: "initialize" } }]);
    lab.hear({ type: "system", subtype: "init", claude_code_version: "2.1.325", tools: [] });
    lab.hear({ type: "control_response", response: { subtype: "success", request_id: "of somebody else" } });
    expect(lab.readies).toBe(0);
    lab.shakeHands({ claude_code_version: "2.1.325", agents: [{ name: "Explore" }] });
    expect(lab.readies).toBe(1);
    expect(lab.of("ready").at(-1)).toMatchObject({
      agent: "claude",
      version: "2.1.325",
      conversation: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      capabilities: { interrupt: true, resume: true, subagents: true },
    });
  });

  test("fails if the program rejects `initialize` or exits", () => {
    const refusing = new ClaudeLab();
    const answer = { subtype: "error", request_id: refusing.requestId("initialize"), error: "Unsupported" };
    refusing.hear({ type: "control_response", response: answer });
    expect(refusing.failures).toEqual(['claude rejected the request "initialize": Unsupported']);
    const ending = new ClaudeLab();
    ending.dialogue.exited({ code: 1, signal: null, errors: "Error: Session ID x is already in use.\n" });
    expect(ending.failures).toEqual(["claude exited with 1 at its start: Error: Session ID x is already in use."]);
  });

  test("fails after a timeout if the program never answers", () => {
    vi.useFakeTimers();
    const lab = new ClaudeLab();
    vi.advanceTimersByTime(119_000);
    expect(lab.failures).toEqual([]);
    vi.advanceTimersByTime(2000);
    expect(lab.failures).toEqual(["claude gave no answer within 120 s"]);
  });
});

describe("The end of a turn of Claude Code", () => {
  test("comes once after two results, when the program is idle", () => {
    const lab = new ClaudeLab();
    const lines = lab.play("claude-state-events");
    expect(lines.filter((line) => line.includes('"type":"result"'))).toHaveLength(2);
    expect(lab.of("turn_end")).toEqual([WELL]);
    expect(lab.told.at(-1)).toEqual(WELL);
  });

  test("comes after a silence without open tasks in versions that do not report idleness", () => {
    vi.useFakeTimers();
    const lab = new ClaudeLab();
    lab.play("claude-agent");
    expect(lab.of("turn_end")).toEqual([]);
    vi.advanceTimersByTime(1600);
    expect(lab.of("turn_end")).toEqual([WELL]);
    const busy = new ClaudeLab();
    busy.shakeHands();
    busy.turn();
    busy.hear({ type: "system", subtype: "background_tasks_changed", tasks: [{ task_id: "t" }] }, result({}));
    vi.advanceTimersByTime(10_000);
    expect(busy.of("turn_end")).toEqual([]);
    busy.hear({ type: "system", subtype: "background_tasks_changed", tasks: [] });
    vi.advanceTimersByTime(1600);
    expect(busy.of("turn_end")).toEqual([WELL]);
  });

  test("does not come after a silence in versions that report idleness", () => {
    vi.useFakeTimers();
    const lab = new ClaudeLab();
    lab.shakeHands();
    lab.turn();
    lab.hear(STATE("running"), result({}));
    vi.advanceTimersByTime(60_000);
    expect(lab.of("turn_end")).toEqual([]);
    lab.hear(STATE("idle"));
    expect(lab.of("turn_end")).toEqual([WELL]);
  });

  test("does not come with the result of work that began before the turn", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    lab.turn();
    lab.hear(STATE("running"), result({ user_message_uuids: ["another"] }), STATE("idle"));
    expect(lab.of("turn_end")).toEqual([]);
    lab.hear({ type: "user", isReplay: true, uuid: lab.lastUuid }, result({ user_message_uuids: [lab.lastUuid] }));
    lab.hear(STATE("idle"));
    expect(lab.of("turn_end")).toEqual([WELL]);
  });

  test.each(["claude-sigTERM", "claude-sigKILL"])(
    "is left to the keeper if the program dies in the middle of a turn: %s",
    (name) => {
      expect(playedToTheEnd(name).of("turn_end")).toEqual([]);
    },
  );

  test("comes with a result even if the program exits after it", () => {
    expect(playedToTheEnd("claude-hello").of("turn_end")).toEqual([WELL]);
  });
});

const FAILURES: [name: string, expected: object][] = [
  ["claude-err-e400", { cause: "invalid_request", error: "API Error: 400 messages: fake bad request" }],
  ["claude-err-e401", { cause: "auth" }],
  ["claude-err-e403", { cause: "auth" }],
  ["claude-login-missing", { cause: "auth", error: "Not logged in · Please run /login" }],
  ["claude-err-credit", { cause: "billing", error: "Credit balance is too low" }],
  ["claude-err-e429", { cause: "rate_limit", retryAfterMs: 1000 }],
  ["claude-err-e500", { cause: "api" }],
  ["claude-err-e529", { cause: "overloaded" }],
  ["claude-err-midstream", { cause: "api" }],
  ["claude-hang-timeout", { cause: "api", error: "Request timed out" }],
  ["claude-err-refusal", { cause: "refusal" }],
  ["claude-err-maxtok", { cause: "max_output" }],
  ["claude-err-toolong", { cause: "context" }],
  ["claude-maxturns", { cause: "max_turns", error: "Reached maximum number of turns (3)" }],
  ["claude-maxbudget", { cause: "agent_budget", error: "Reached maximum budget ($0.03)" }],
  ["claude-structured-none", { cause: "no_structured_output" }],
  ["claude-write-denied", { cause: "denied", error: "the agent was not allowed to use Write, and did nothing else" }],
  ["claude-sigINT", { error: "the turn was interrupted" }],
  ["claude-interrupt-bash", { error: "the turn was interrupted" }],
];

describe("A failure of Claude Code", () => {
  test.each(FAILURES)("is reported with its cause: %s", (name, expected) => {
    const ends = playedToTheEnd(name).of("turn_end");
    expect(ends).toHaveLength(1);
    expect(ends[0]).toMatchObject({ error: expect.any(String), ...expected });
    if (!("cause" in expected)) expect(ends[0]).not.toHaveProperty("cause");
  });

  test("in place of an answer is not taken for text of the model", () => {
    for (const name of ["claude-err-e529", "claude-err-credit", "claude-login-missing", "claude-usage-limit"])
      expect(playedToTheEnd(name).words()).toEqual([]);
  });

  test("is not text of the model, nor is a synthetic message or an aborted one", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    lab.turn();
    const assistant = (model: string, more: object) => ({
      type: "assistant",
      parent_tool_use_id: null,
      message: { model, content: [{ type: "text", text: "words" }] },
      ...more,
    });
    lab.hear(
      assistant("a-model", { error: "server_error" }),
      assistant("<synthetic>", {}),
      assistant("a-model", { aborted: true }),
    );
    expect(lab.words()).toEqual([]);
    lab.hear(assistant("a-model", {}));
    expect(lab.words()).toEqual(["words"]);
    expect(playedToTheEnd("claude-sigINT").words()).toEqual([]);
  });

  test("by an account limit has the time of the reset", () => {
    const lab = new ClaudeLab();
    const event = /"resetsAt":(\d+)/.exec(lab.play("claude-usage-limit").join("\n"))!;
    expect(lab.of("turn_end")[0]).toMatchObject({
      cause: "usage_limit",
      error: expect.stringMatching(/^You've hit your 5-hour limit · resets /),
      resetAt: Number(event[1]) * 1000,
    });
  });

  test("by an account limit is recognised by its text alone", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    lab.turn();
    lab.hear(failed("Claude AI usage limit reached|1794750933", 429), STATE("running"), STATE("idle"));
    expect(lab.of("turn_end")[0]).toMatchObject({ cause: "usage_limit", resetAt: 1_794_750_933_000 });
  });

  test("to find the conversation ends the turn with that reason", () => {
    const [end] = playedToTheEnd("claude-sess-resume-missing").of("turn_end");
    expect(end!.error).toContain("No conversation found");
  });

  test("that the program retries is reported as trouble, and a turn that recovers succeeds", () => {
    const lab = playedToTheEnd("claude-err-e529then");
    expect(lab.of("provider_trouble")).toEqual([
      trouble("overloaded", "the provider answered 529 (overloaded)", 596),
      trouble("overloaded", "the provider answered 529 (overloaded)", 1178),
    ]);
    expect(lab.of("turn_end")).toEqual([WELL]);
    expect(lab.words()).toEqual(["Recovered after overload."]);
  });

  const retry = (status: number, error: string, attempt: number) => ({
    type: "system",
    subtype: "api_retry",
    attempt,
    max_retries: 10,
    retry_delay_ms: 500,
    error_status: status,
    error,
  });
  const interrupts = (lab: ClaudeLab) =>
    lab.said.filter(({ request }) => (request as { subtype?: string } | undefined)?.subtype === "interrupt").length;

  test("by a rejected key ends the turn at once; a login may be renewed first", () => {
    const keyed = new ClaudeLab();
    keyed.shakeHands({
      claude_code_version: "2",
      account: { apiKeySource: "ANTHROPIC_API_KEY" },
      session_state: "idle",
    });
    keyed.turn();
    keyed.hear(retry(401, "authentication_failed", 1));
    expect(interrupts(keyed)).toBe(1);
    keyed.hear(result({ is_error: true, terminal_reason: "aborted_streaming" }), STATE("idle"));
    expect(keyed.of("turn_end")).toMatchObject([{ cause: "auth" }]);
    const loggedIn = new ClaudeLab();
    loggedIn.shakeHands({ claude_code_version: "2", account: { tokenSource: "claude.ai" }, session_state: "idle" });
    loggedIn.turn();
    loggedIn.hear(retry(401, "authentication_failed", 1));
    expect(interrupts(loggedIn)).toBe(0);
    loggedIn.hear(retry(401, "authentication_failed", 2));
    expect(interrupts(loggedIn)).toBe(1);
  });

  test("with a long wait for the provider is left to the run", () => {
    const lab = new ClaudeLab();
    lab.play("claude-retry-long");
    expect(interrupts(lab)).toBe(1);
    lab.hear(result({ is_error: true, terminal_reason: "aborted_streaming" }), STATE("idle"));
    expect(lab.of("turn_end")).toMatchObject([{ cause: "rate_limit", retryAfterMs: 45_000 }]);
  });
});

describe("Tools and subagents of Claude Code", () => {
  test("are reported, with start and end, while text of a subagent is not taken for the main agent's (D4-100)", () => {
    const lab = new ClaudeLab();
    lab.play("claude-state-events");
    expect(lab.words().join("\n")).not.toMatch(/Subagent writing|SUBAGENT_RESULT/);
    expect(lab.of("tool").map(({ name }) => name)).toEqual(["Agent", "Write"]);
    const [agent, write] = lab.of("tool");
    expect(write!.parent).toBe(agent!.id);
    expect(lab.of("subagent")).toMatchObject([
      { phase: "started", text: "Sub job", toolId: agent!.id },
      { phase: "done", text: "SUBAGENT_RESULT ok" },
    ]);
  });

  test("are not reported if they were refused", () => {
    for (const name of ["claude-write-denied", "claude-hook-denied"])
      expect(playedToTheEnd(name).of("tool")).toEqual([]);
  });

  test("let a turn succeed if one tool was refused and another one ran", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    lab.turn();
    lab.hear(STATE("running"), toolUse("a", "Read"), toolResult("a"), toolUse("b", "Bash"));
    lab.hear({ type: "system", subtype: "permission_denied", tool_use_id: "b", tool_name: "Bash" });
    lab.hear(result({ permission_denials: [{ tool_use_id: "b", tool_name: "Bash" }] }), STATE("idle"));
    expect(lab.of("tool")).toEqual([{ type: "tool", id: "a", name: "Read", input: {} }]);
    expect(lab.of("turn_end")).toEqual([WELL]);
  });

  test("in the background are stopped with the turn", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    lab.turn();
    lab.hear({ type: "system", subtype: "background_tasks_changed", tasks: [{ task_id: "b1" }, { task_id: "b2" }] });
    lab.dialogue.interrupt();
    const asked = lab.said.flatMap(({ request }) => (request ? [request] : []));
    expect(asked.slice(-3)).toEqual([
      { subtype: "stop_task", task_id: "b1" },
      { subtype: "stop_task", task_id: "b2" },
      { subtype: "interrupt", cancel_queued: true },
    ]);
  });

  test("that failed are reported as such, and are no reason to accept a turn with refused ones", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    lab.turn();
    const error = "No such tool available: Frobnicate";
    lab.hear(STATE("running"), toolUse("a", "Frobnicate"), toolResult("a", { is_error: true, content: error }));
    lab.hear(toolUse("b", "Bash"));
    lab.hear({ type: "system", subtype: "permission_denied", tool_use_id: "b", tool_name: "Bash" });
    lab.hear(toolResult("b", { is_error: true, content: "denied" }));
    lab.hear(result({ permission_denials: [{ tool_use_id: "b", tool_name: "Bash" }] }), STATE("idle"));
    expect(lab.of("tool").map(({ name }) => name)).toEqual(["Frobnicate"]);
    expect(lab.of("tool_failed")).toEqual([{ type: "tool_failed", id: "a", error }]);
    expect(lab.of("turn_end")).toMatchObject([{ cause: "denied" }]);
  });
});

test("A result of a tool is reported with its beginning", () => {
  const lab = new ClaudeLab();
  lab.shakeHands();
  lab.turn();
  lab.hear(STATE("running"), toolUse("a", "Read"), toolResult("a", { content: "x".repeat(5000) }));
  lab.hear(
    toolUse("b", "Bash"),
    toolResult("b", {
      content: [
        { type: "text", text: "one" },
        { type: "text", text: "two" },
      ],
    }),
  );
  lab.hear(toolUse("c", "Write"), toolResult("c", { content: "" }));
  expect(lab.of("tool").map(({ id }) => id)).toEqual(["a", "b", "c"]);
  expect(lab.of("tool_result")).toEqual([
    { type: "tool_result", id: "a", text: `${"x".repeat(4000)}\n… 1000 more characters` },
    { type: "tool_result", id: "b", text: "one\ntwo" },
  ]);
});

describe("The usage of Claude Code", () => {
  test("contains only the difference to the previous totals", () => {
    const lab = new ClaudeLab();
    lab.play("claude-state-events");
    // The second result of the turn repeats the totals of the first.
    expect(lab.of("usage")).toMatchObject([{ inputTokens: 13_475, outputTokens: 173 }]);
    // The size of the conversation is that of the last request and answer of the main agent.
    expect(lab.of("usage")).toMatchObject([{ contextTokens: 3286, contextWindow: 1_000_000 }]);
    expect(lab.of("usage")[0]!.usd).toBeCloseTo(0.05736, 6);
  });

  test("of a resumed conversation does not count earlier usage again", () => {
    const [spent] = playedToTheEnd("claude-sess-resume").of("usage");
    expect(spent).toMatchObject({ inputTokens: 5202, outputTokens: 58 });
    expect(spent!.usd).toBeCloseTo(0.021968, 6);
  });

  test("is computed from the totals in versions without differences", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    const totals = (inputTokens: number, costUSD: number) =>
      result({ modelUsage: { m: { inputTokens, cacheReadInputTokens: 10, outputTokens: 1, costUSD } } });
    lab.hear(totals(100, 1), totals(150, 1.5), totals(40, 0.2));
    expect(lab.of("usage").map(({ inputTokens, usd }) => [inputTokens, usd])).toEqual([
      [110, 1],
      [50, 0.5],
      [50, 0.2],
    ]);
  });
});

describe("A relaunch of Claude Code", () => {
  test("sends the open turn again in the same conversation, with a note", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    lab.turn("build it");
    const first = lab.lastUuid;
    lab.hear({ type: "user", isReplay: true, uuid: first });
    expect(lab.dialogue.relaunch!()).toEqual(["claude", "-p", "--resume", "a-name"]);
    lab.dialogue.open();
    lab.shakeHands();
    lab.dialogue.turn({ number: 1, text: "build it" });
    expect(lab.lastUuid).not.toBe(first);
    const { message } = lab.said.at(-1) as { message: { content: { text: string }[] } };
    expect(message.content[0]!.text).toMatch(/^Your process ended in the middle[^]*working directory[^]*build it$/);
    expect(lab.readies).toBe(2);
  });

  test("begins another conversation if the first one was not stored yet, and resumes it later", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    lab.turn("build it");
    lab.hear(STATE("running"), { type: "command_lifecycle", state: "started", command_uuid: lab.lastUuid });
    const fresh = lab.dialogue.relaunch!()!;
    expect(fresh).toEqual(["claude", "-p", "--session-id", expect.stringMatching(/^[\da-f-]{36}$/)]);
    lab.dialogue.open();
    lab.shakeHands();
    expect(lab.of("ready").at(-1)).toMatchObject({ conversation: fresh.at(-1) });
    lab.dialogue.turn({ number: 1, text: "build it" });
    lab.hear({ type: "user", isReplay: true, uuid: lab.lastUuid });
    expect(lab.dialogue.relaunch!()).toEqual(fresh.with(2, "--resume"));
  });

  test("begins another conversation if the program did not find the first one, unless a turn needs its history", () => {
    const missing = result({ is_error: true, subtype: "error_during_execution", errors: ["No conversation found"] });
    const resumed = (turns: number): ClaudeLab => {
      const lab = new ClaudeLab();
      lab.shakeHands();
      for (let i = 1; i < turns; i++) {
        lab.turn();
        lab.hear(STATE("running"), { type: "user", isReplay: true, uuid: lab.lastUuid }, result({}), STATE("idle"));
      }
      lab.turn();
      lab.hear({ type: "user", isReplay: true, uuid: lab.lastUuid });
      expect(lab.dialogue.relaunch!()).toContain("--resume");
      lab.dialogue.open();
      lab.hear(missing);
      return lab;
    };
    expect(resumed(1).dialogue.relaunch!()).toContain("--session-id");
    const later = resumed(2);
    expect(later.dialogue.relaunch!()).toBeNull();
    expect(later.of("turn_end"), "the missing conversation is no result of the turn").toEqual([WELL]);
    later.dialogue.exited({ code: 1, signal: null, errors: "No conversation found with session ID: x" });
    expect(later.failures).toEqual(["claude exited with 1 at its start: No conversation found with session ID: x"]);
  });

  test("ignores an answer of the previous process", () => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    const old = lab.requestId("initialize");
    lab.dialogue.open();
    lab.hear({ type: "control_response", response: { subtype: "success", request_id: old, response: {} } });
    expect(lab.readies).toBe(1);
    lab.shakeHands();
    expect(lab.readies).toBe(2);
  });

  test("does not happen after an interrupt or after the result", () => {
    const interrupted = new ClaudeLab();
    interrupted.shakeHands();
    interrupted.turn();
    interrupted.hear({ type: "user", isReplay: true, uuid: interrupted.lastUuid });
    interrupted.dialogue.interrupt();
    expect(interrupted.dialogue.relaunch!()).toBeNull();
    const over = new ClaudeLab();
    over.shakeHands();
    over.turn();
    over.hear(STATE("running"), { type: "user", isReplay: true, uuid: over.lastUuid }, result({}));
    expect(over.dialogue.relaunch!()).toBeNull();
    expect(over.of("turn_end")).toEqual([WELL]);
  });
});

test("A prompt that is interrupted while it is queued ends its turn", () => {
  const lab = new ClaudeLab();
  lab.play("claude-interrupt-queued");
  expect(lab.of("turn_end")).toEqual([{ type: "turn_end", error: "the turn was interrupted" }]);
});

const STATE = (state: string) => ({ type: "system", subtype: "session_state_changed", state });
const result = (more: object) => ({ type: "result", subtype: "success", is_error: false, ...more });
const failed = (text: string, status: number) =>
  result({ is_error: true, terminal_reason: "api_error", api_error_status: status, result: text });
const toolUse = (id: string, name: string) => ({
  type: "assistant",
  parent_tool_use_id: null,
  message: { content: [{ type: "tool_use", id, name, input: {} }] },
});
const toolResult = (id: string, more: object = {}) => ({
  type: "user",
  message: { content: [{ type: "tool_result", tool_use_id: id, content: "ok", ...more }] },
});
const trouble = (cause: string, detail: string, retryAfterMs: number): AgentLine =>
  ({ type: "provider_trouble", cause, detail, retryAfterMs }) as AgentLine;

describe("A message during a turn", () => {
  const begun = (): ClaudeLab => {
    const lab = new ClaudeLab();
    lab.shakeHands();
    lab.turn();
    return lab;
  };
  const replay = (uuid: string) => ({ type: "user", isReplay: true, uuid, message: { role: "user", content: [] } });

  test("goes to the program's queue, and counts as received when the program replays it", () => {
    const lab = begun();
    const prompt = lab.lastUuid;
    lab.dialogue.steer!("0", "/mind the heron");
    expect(lab.said.at(-1)).toMatchObject({
      type: "user",
      priority: "next",
      message: { content: [{ type: "text", text: "The request:\n/mind the heron" }] },
    });
    const uuid = lab.lastUuid;
    expect(uuid).not.toBe(prompt);
    lab.hear(replay(prompt));
    expect(lab.of("steered")).toEqual([]);
    lab.hear(replay(uuid), replay(uuid));
    expect(lab.of("steered")).toEqual([{ type: "steered", id: "0", text: "/mind the heron" }]);
  });

  test("is not sent without a turn, nor in an interrupted one", () => {
    const lab = begun();
    lab.dialogue.interrupt();
    const { length } = lab.said;
    lab.dialogue.steer!("0", "late");
    const idle = new ClaudeLab();
    idle.shakeHands();
    idle.dialogue.steer!("0", "early");
    expect([lab.said.length, idle.said.filter(({ type }) => type === "user")]).toEqual([length, []]);
  });
});
