import { describe, expect, test } from "vitest";
import { CodexLab, COMMAND, THREAD } from "./codex-lab.ts";

const begun = (permissions: ConstructorParameters<typeof CodexLab>[0] = {}): CodexLab => {
  const lab = new CodexLab(permissions).beginThread();
  lab.news();
  return lab;
};

describe("The start of Codex", () => {
  test("is ready after `initialize`, the check of the login and the start of a thread", () => {
    const lab = new CodexLab();
    lab.dialogue.open();
    expect(lab.said.map(({ method }) => method)).toEqual(["initialize"]);
    lab.reply("initialize", { result: { userAgent: "tutti/0.170.1-beta (Linux)" } });
    lab.reply("account/read", { result: { account: { type: "chatgpt" }, requiresOpenaiAuth: true } });
    expect(lab.said.map(({ method }) => method)).toEqual(["initialize", "initialized", "account/read", "thread/start"]);
    expect(lab.readies).toBe(0);
    lab.reply("thread/start", { result: { thread: { id: THREAD } } });
    expect(lab.readies).toBe(1);
    expect(lab.news()).toMatchObject([
      { type: "ready", agent: "codex", version: "0.170.1-beta", conversation: THREAD },
    ]);
  });

  test("fails with instructions if Codex is not logged in, without starting a thread", () => {
    const lab = new CodexLab().begin({ account: null, requiresOpenaiAuth: true });
    expect(lab.failures).toEqual(['Codex is not logged in. Run "codex login", or set OPENAI_API_KEY.']);
    expect(lab.asked("thread/start")).toBe(false);
  });

  test.each(["initialize", "thread/start"])("fails with the reason if %s is rejected", (method) => {
    const lab = new CodexLab();
    if (method === "initialize") lab.dialogue.open();
    else lab.begin();
    lab.reply(method, { error: { code: -32600, message: "the config is broken" } });
    expect(lab.failures).toEqual([expect.stringContaining("the config is broken")]);
    expect(lab.readies).toBe(0);
  });

  test("fails with the last line of stderr if the program exits before it is ready", () => {
    const lab = new CodexLab();
    lab.dialogue.open();
    lab.dialogue.exited({ code: 1, signal: null, errors: "some log\n\u001b[31mERROR\u001b[0m no such model\n" });
    expect(lab.failures).toEqual(["codex exited with 1 before it was ready: ERROR no such model"]);
  });

  test.each([
    [{ mode: "edits" }, "on-request"],
    [{ mode: "all" }, "on-request"],
    [{ mode: "ask" }, "untrusted"],
    [{ mode: "listed" }, "untrusted"],
    [{ mode: "all", refuse: ["Bash(rm *)"] }, "untrusted"],
  ] as const)(
    "with the permissions %j uses the approval policy %s and a sandbox that does not trust the repository",
    (given, policy) => {
      const lab = begun({ permissions: { ...given, refuse: [...("refuse" in given ? given.refuse : [])] } });
      expect(lab.request("thread/start")["params"]).toEqual({
        cwd: "/home/dev/project",
        approvalPolicy: policy,
        approvalsReviewer: "user",
        sandbox: "read-only",
        config: {
          "mcp_servers.tutti.url": "http://127.0.0.1:9/mcp",
          "mcp_servers.tutti.bearer_token_env_var": "TUTTI_MCP_TOKEN",
          "mcp_servers.tutti.enabled": true,
          "mcp_servers.tutti.tool_timeout_sec": expect.any(Number) as number,
          "mcp_servers.tutti.default_tools_approval_mode": "approve",
        },
      });
      lab.turn();
      expect(lab.request("turn/start")["params"]).toMatchObject({
        threadId: THREAD,
        sandboxPolicy: { type: "workspaceWrite", networkAccess: false, writableRoots: [] },
      });
    },
  );
});

test("Codex starts and resumes its thread with the model of the task", () => {
  const lab = begun({ model: "gpt-5.4" });
  expect(lab.request("thread/start")["params"]).toMatchObject({ model: "gpt-5.4" });
});

test("Codex may write to /tmp, unless the programs of its sandbox are there", () => {
  const closed = (home: string): unknown => {
    const lab = new CodexLab().begin(undefined, home);
    lab.reply("thread/start", { result: { thread: { id: THREAD } } });
    const { sandboxPolicy } = lab.turn().request("turn/start")["params"] as { sandboxPolicy: object };
    return "excludeSlashTmp" in sandboxPolicy && sandboxPolicy.excludeSlashTmp;
  };
  expect([closed("/home/dev/.codex"), closed("/tmp/data/sessions/1/codex")]).toEqual([false, true]);
});

describe("The text of Codex", () => {
  test("is passed on in pieces and whole, without reasoning, plans and the user's messages", () => {
    const lab = begun().turn();
    lab.complete(lab.item({ type: "userMessage" }), {
      type: "userMessage",
      content: [{ type: "text", text: "do it" }],
    });
    lab.notify("item/reasoning/summaryTextDelta", { delta: "<<<THOUGHT>>>" });
    lab.complete("r", { type: "reasoning", summary: ["<<<THOUGHT>>>"], content: [] });
    lab.complete("p", { type: "plan", text: "<<<PLAN>>>" });
    lab.say("Hé🎼");
    lab.end();
    expect(lab.told.slice(0, 3)).toEqual(["H", "é", "🎼"].map((text) => ({ type: "assistant", text, partial: true })));
    expect(lab.words()).toEqual(["Hé🎼"]);
    expect(lab.of("turn_end")).toEqual([{ type: "turn_end" }]);
  });

  test("of another thread, of another turn or outside a turn is ignored", () => {
    const lab = begun();
    lab.say("before any turn");
    lab.turn();
    const item = { id: "x", type: "agentMessage", text: "history" };
    lab.hear({ method: "item/completed", params: { threadId: THREAD, turnId: "turn-0", item } });
    lab.hear({ method: "item/completed", params: { threadId: "thread-2", turnId: lab.turnId, item } });
    lab.hear({
      method: "turn/completed",
      params: { threadId: "thread-2", turn: { id: lab.turnId, status: "completed" } },
    });
    lab.end();
    lab.say("after the turn");
    lab.end();
    expect(lab.news()).toEqual([{ type: "turn_end" }]);
  });

  test("of a program that exits in the middle of a message becomes a message", () => {
    const lab = begun().turn();
    lab.item({ type: "agentMessage", text: "" });
    for (const delta of ["I was ", "about to"]) lab.notify("item/agentMessage/delta", { delta });
    lab.dialogue.exited({ code: 1, signal: null, errors: "" });
    expect(lab.news()).toEqual([{ type: "assistant", text: "I was about to" }]);
    expect(lab.failures).toEqual([]);
  });

  test.each([
    "not JSON at all",
    '"text"',
    "[1]",
    "null",
    "{}",
    '{"id":{}}',
    '{"id":99,"result":{}}',
    '{"method":"item/completed"}',
    '{"method":"item/completed","params":{"threadId":"thread-1","turnId":"turn-1","item":5}}',
    '{"method":"item/started","params":{"threadId":"thread-1","turnId":"turn-1","item":{"type":"fileChange","changes":[7,{"path":1}]}}}',
    '{"method":"thread/tokenUsage/updated","params":{"threadId":"thread-1","tokenUsage":{"total":{"inputTokens":-5,"outputTokens":"x"}}}}',
    '{"method":"error","params":{"threadId":"thread-1","turnId":"turn-1"}}',
    '{"method":"invention/updated","params":{"threadId":"thread-1","turnId":"turn-1"}}',
  ])("may contain the line %s, which is ignored", (line) => {
    const lab = begun().turn();
    lab.hear(line);
    lab.say("on we go");
    lab.end();
    expect(lab.news()).toEqual([{ type: "assistant", text: "on we go" }, { type: "turn_end" }]);
  });
});

describe("The tools of Codex", () => {
  const cases: [item: object, expected: object[]][] = [
    [
      { type: "commandExecution", command: "/bin/bash -lc 'npm test && echo \"ok\"'" },
      [{ name: "Bash", input: { command: 'npm test && echo "ok"' } }],
    ],
    [{ type: "commandExecution", command: "/bin/bash -lc ls" }, [{ name: "Bash", input: { command: "ls" } }]],
    [{ type: "commandExecution", command: "rg 'a b'" }, [{ name: "Bash", input: { command: "rg 'a b'" } }]],
    [{ type: "commandExecution", command: "bash -lc 'open" }, [{ name: "Bash", input: { command: "bash -lc 'open" } }]],
    [{ type: "commandExecution", command: "x", source: "unifiedExecInteraction" }, []],
    [
      {
        type: "fileChange",
        changes: [
          { path: "/home/dev/project/a.md", kind: { type: "add" }, diff: "" },
          { path: "/home/dev/project/b.md", kind: { type: "update", move_path: "/home/dev/project/c.md" }, diff: "" },
          { path: "/home/dev/project/d.md", kind: { type: "delete" }, diff: "" },
        ],
      },
      [
        { name: "Write", input: { file_path: "/home/dev/project/a.md", change: "add" } },
        { name: "Edit", input: { file_path: "/home/dev/project/b.md", change: "update" } },
        { name: "Edit", input: { file_path: "/home/dev/project/c.md", change: "update" } },
        { name: "Edit", input: { file_path: "/home/dev/project/d.md", change: "delete" } },
      ],
    ],
    [
      { type: "mcpToolCall", server: "board", tool: "report", arguments: { n: 1 } },
      [{ name: "mcp__board__report", input: { n: 1 } }],
    ],
    [{ type: "webSearch", query: "herons" }, [{ name: "WebSearch", input: { query: "herons" } }]],
    [{ type: "imageView", path: "/a.png" }, [{ name: "Read", input: { file_path: "/a.png" } }]],
    [{ type: "contextCompaction" }, []],
  ];

  test.each(cases)("are reported once: %j as %j", (item, expected) => {
    const lab = begun().turn();
    const id = lab.item({ ...item, status: "inProgress", processId: null });
    lab.complete(id, { ...item, status: "completed" });
    const idOf = (i: number): string => (i === 0 ? id : `${id}/${i}`);
    expect(lab.news()).toEqual(expected.map((each, i) => ({ type: "tool", id: idOf(i), ...each })));
  });

  test("include a running command while it runs, and not again at its end", () => {
    const lab = begun().turn();
    const item = { type: "commandExecution", command: "/bin/bash -lc 'sleep 9'" };
    const id = lab.item({ ...item, status: "inProgress", processId: "123" });
    expect(lab.news()).toEqual([{ type: "tool", id, name: "Bash", input: { command: "sleep 9" } }]);
    lab.complete(id, { ...item, status: "completed", exitCode: 0, aggregatedOutput: "slept\n" });
    expect(lab.news()).toEqual([{ type: "tool_result", id, text: "slept\n" }]);
  });

  test("that failed are reported as such, with the reason", () => {
    const lab = begun().turn();
    const failing = (item: object, ending: object) => {
      const id = lab.item({ ...item, status: "inProgress", processId: null });
      lab.complete(id, { ...item, status: "failed", ...ending });
      const failed = lab.of("tool_failed");
      lab.news();
      return failed;
    };
    const command = { type: "commandExecution", command: "/bin/bash -lc 'cat a.md'" };
    expect(failing(command, { exitCode: 1, aggregatedOutput: "cat: a.md: No such file\n" })).toMatchObject([
      { error: "exit code 1: cat: a.md: No such file" },
    ]);
    const changes = ["a.md", "b.md"].map((path) => ({ path, kind: { type: "add" }, diff: "" }));
    expect(failing({ type: "fileChange", changes }, {})).toMatchObject([{ id: "item-2" }, { id: "item-2/1" }]);
    const call = { type: "mcpToolCall", server: "board", tool: "report", arguments: {} };
    expect(failing(call, { error: { message: "no such board" } })).toMatchObject([{ error: "no such board" }]);
  });
});

describe("The approvals of Codex", () => {
  const wantCommand = (lab: CodexLab, command: string, more: object = {}): string => {
    const item = { type: "commandExecution", command, status: "inProgress", processId: null };
    const itemId = lab.item(item);
    const params = { threadId: THREAD, turnId: lab.turnId, itemId, kind: "command", command, ...more };
    lab.hear({ method: "item/commandExecution/requestApproval", id: `request-${itemId}`, params });
    return itemId;
  };
  const wantChange = (lab: CodexLab, ...paths: string[]): string => {
    const changes = paths.map((path) => ({ path, kind: { type: "update", move_path: null }, diff: "" }));
    const itemId = lab.item({ type: "fileChange", changes, status: "inProgress" });
    const params = { threadId: THREAD, turnId: lab.turnId, itemId, reason: null, grantRoot: null };
    lab.hear({ method: "item/fileChange/requestApproval", id: `request-${itemId}`, params });
    return itemId;
  };

  test("ask the user for a command with its reason, and pass the answer back", () => {
    const lab = begun().turn();
    wantCommand(lab, "/bin/bash -lc 'curl example.com'", { reason: "I need the page" });
    const question = "May the agent run: curl example.com\nReason: I need the page";
    expect(lab.news()).toEqual([
      {
        type: "ask",
        id: "approval-1",
        question,
        options: ["allow", "refuse"],
        permission: { tool: "Bash", subject: "curl example.com" },
      },
    ]);
    expect(lab.decisions()).toEqual([]);
    lab.dialogue.answer("approval-1", "allow");
    expect(lab.decisions()).toEqual([{ decision: "accept" }]);
    expect(lab.news()).toEqual([{ type: "tool", id: "item-1", name: "Bash", input: { command: "curl example.com" } }]);
    wantCommand(lab, "/bin/bash -lc 'curl other.com'");
    lab.dialogue.answer("approval-2", "rather not");
    expect(lab.decisions()[1]).toEqual({ decision: "decline" });
    lab.end();
    expect(lab.news().at(-1)).toEqual({ type: "turn_end" });
  });

  test("follow the run's permissions, which match the command and not the shell around it", () => {
    const lab = begun({ permissions: { mode: "listed", allow: ["Bash(npm test*)"], refuse: ["Bash(npm test evil)"] } });
    lab.turn();
    wantCommand(lab, "/bin/bash -lc 'npm test -- a'");
    wantCommand(lab, "/bin/bash -lc 'npm test; rm -rf /'");
    wantCommand(lab, "/bin/bash -lc 'npm test evil'");
    wantCommand(lab, "/bin/bash -lc 'npm test'", { kind: "writeStdin" });
    expect(lab.decisions()).toEqual(["accept", "decline", "decline", "decline"].map((decision) => ({ decision })));
    expect(lab.of("ask")).toEqual([]);
    expect(lab.of("tool")).toHaveLength(1);
  });

  test("allow changes in mode `edits` only if all files are in the workspace", () => {
    const lab = begun({ permissions: { mode: "edits", refuse: ["Edit(secret/*)"] } }).turn();
    wantChange(lab, "/home/dev/project/docs/a.md");
    wantChange(lab, "/home/dev/project/docs/a.md", "/home/dev/project/secret/b.md");
    expect(lab.decisions()).toEqual([{ decision: "accept" }, { decision: "decline" }]);
    wantChange(lab, "/home/dev/project/docs/a.md", "/etc/hosts");
    wantChange(lab);
    expect(lab.decisions()).toHaveLength(2);
    expect(lab.of("ask").map(({ permission }) => permission)).toEqual([
      { tool: "Edit", subject: "docs/a.md, /etc/hosts" },
      { tool: "Edit", subject: "" },
    ]);
  });

  test("cover network hosts and sandbox permissions like tools", () => {
    const lab = begun({ permissions: { mode: "listed", allow: ["WebFetch(https://good.example)"] } }).turn();
    wantCommand(lab, "", { networkApprovalContext: { host: "good.example", protocol: "https" } });
    wantCommand(lab, "", { networkApprovalContext: { host: "bad.example", protocol: "https" } });
    const permissions = { network: { enabled: true }, fileSystem: null };
    lab.hear({ method: "item/permissions/requestApproval", id: 7, params: { threadId: THREAD, permissions } });
    expect(lab.decisions()).toEqual([
      { decision: "accept" },
      { decision: "decline" },
      { permissions: {}, scope: "turn" },
    ]);
    const free = begun({ permissions: { mode: "all" } }).turn();
    free.hear({ method: "item/permissions/requestApproval", id: 7, params: { threadId: THREAD, permissions } });
    expect(free.decisions()).toEqual([{ permissions: { network: { enabled: true } }, scope: "turn" }]);
  });

  test("reject an unknown request at once, so that the program does not wait forever", () => {
    const lab = begun().turn();
    for (const method of ["item/tool/requestUserInput", "mcpServer/elicitation/request", "invention/request"])
      lab.hear({ method, id: method, params: { threadId: THREAD } });
    expect(lab.decisions()).toEqual(
      Array.from({ length: 3 }, () => ({ error: expect.objectContaining({ code: -32601 }) })),
    );
  });

  test("withdraw a question when the program resolves it and when its turn ends", () => {
    const lab = begun().turn();
    const id = wantCommand(lab, "one");
    lab.notify("serverRequest/resolved", { requestId: `request-${id}` });
    expect(lab.news().at(-1)).toEqual({ type: "ask_cancelled", id: "approval-1" });
    wantCommand(lab, "two");
    lab.end("interrupted");
    expect(lab.news().slice(-2)).toEqual([
      { type: "ask_cancelled", id: "approval-2" },
      { type: "turn_end", error: "the turn was interrupted" },
    ]);
    lab.dialogue.answer("approval-2", "allow");
    expect(lab.decisions()).toEqual([]);
  });
});

describe("The end of a turn of Codex", () => {
  const failed = (message: string, codexErrorInfo: unknown = "other", additionalDetails: string | null = null) => {
    const lab = begun().turn();
    lab.end("failed", { message, codexErrorInfo, additionalDetails });
    return lab.news()[0];
  };
  const http = (kind: string, httpStatusCode: number | null) => ({ [kind]: { httpStatusCode } });

  test.each([
    [
      '{"error":{"type":"invalid_request_error","message":"not in order"}}',
      "other",
      { error: "not in order", cause: "invalid_request" },
    ],
    ["unexpected status 401 Unauthorized: x", http("httpConnectionFailed", 401), { cause: "auth" }],
    ["x", "unauthorized", { cause: "auth" }],
    ["unexpected status 403 Forbidden: no", http("httpConnectionFailed", 403), { cause: "auth" }],
    [
      "unexpected status 403 Forbidden: check your plan and billing details.",
      http("httpConnectionFailed", 403),
      { cause: "billing" },
    ],
    [
      "exceeded retry limit, last status: 429 Too Many Requests",
      http("responseTooManyFailedAttempts", 429),
      { cause: "rate_limit" },
    ],
    [
      "rate limit exceeded: Please try again in 17s.",
      "rateLimitExceeded",
      { cause: "rate_limit", retryAfterMs: 17_000 },
    ],
    ["We’re currently experiencing high demand", "internalServerError", { cause: "api" }],
    ["unexpected status 529: Overloaded", http("httpConnectionFailed", 529), { cause: "overloaded" }],
    ["Selected model is at capacity.", "serverOverloaded", { cause: "overloaded" }],
    ["Codex ran out of room", "contextWindowExceeded", { cause: "context" }],
    [
      '{"error":{"code":"context_length_exceeded","message":"too much"}}',
      "other",
      { error: "too much", cause: "context" },
    ],
    ["stream disconnected before completion: error decoding response body", "other", { cause: "api" }],
    [
      "stream disconnected before completion: Incomplete response returned, reason: content_filter",
      "other",
      { cause: "refusal" },
    ],
    ["Incomplete response returned, reason: max_output_tokens", "other", { cause: "max_output" }],
    ["no way through", http("responseStreamConnectionFailed", null), { cause: "api" }],
    ["To use Codex with your ChatGPT plan, upgrade to Plus", "usageLimitExceeded", { cause: "billing" }],
    ["enough", "tooManyDenials", { cause: "denied" }],
    ["who knows", { inventedYesterday: 5 }, { error: "who knows", cause: "api" }],
    ["who knows", "toString", { error: "who knows" }],
  ] as const)("with the error %s (%j) is reported as %j", (message, info, meaning) => {
    const end = failed(message, info) as object;
    expect(end).toMatchObject({ type: "turn_end", error: expect.any(String), ...meaning });
    expect("cause" in end).toBe("cause" in meaning);
  });

  test("has the reset time of an account limit, from the account's data or else from the message", () => {
    const sentence = "You’ve hit your usage limit. Upgrade to Pro or try again in 2 hours.";
    const before = Date.now();
    const end = failed(sentence, "usageLimitExceeded") as { resetAt: number };
    expect(end).toMatchObject({ cause: "usage_limit", error: sentence });
    expect(end.resetAt - before).toBeGreaterThanOrEqual(2 * 3_600_000);
    const lab = begun().turn();
    const window = (usedPercent: number, resetsAt: number) => ({ usedPercent, windowDurationMins: 300, resetsAt });
    const rateLimits = { primary: window(100, 2_000_000_000), secondary: window(40, 2_100_000_000) };
    lab.notify("account/rateLimits/updated", { rateLimits });
    lab.end("failed", {
      message: "You’ve hit your usage limit. Try again later.",
      codexErrorInfo: "usageLimitExceeded",
    });
    expect(lab.news()).toMatchObject([{ cause: "usage_limit", resetAt: 2_000_000_000_000 }]);
  });

  test("does not come with an error that the program retries, which is reported as trouble", () => {
    const lab = begun().turn();
    const error = {
      message: "Reconnecting... 1/5",
      codexErrorInfo: http("responseStreamDisconnected", null),
      additionalDetails: "rate limit exceeded: Please try again in 17s.",
    };
    lab.notify("error", { error, willRetry: true });
    const detail = "rate limit exceeded: Please try again in 17s.";
    expect(lab.news()).toEqual([{ type: "provider_trouble", cause: "rate_limit", detail, retryAfterMs: 17_000 }]);
    expect(lab.asked("turn/interrupt")).toBe(false);
    lab.say("Through.");
    lab.end();
    expect(lab.news()).toEqual([{ type: "assistant", text: "Through." }, { type: "turn_end" }]);
  });

  test("comes with the cause if the provider demands a long wait", () => {
    const lab = begun().turn();
    const message = "rate limit exceeded: Please try again in 600s.";
    lab.notify("error", { error: { message, codexErrorInfo: "rateLimitExceeded" }, willRetry: true });
    expect(lab.request("turn/interrupt")["params"]).toEqual({ threadId: THREAD, turnId: "turn-1" });
    lab.end("interrupted");
    expect(lab.news().at(-1)).toEqual({ type: "turn_end", error: message, cause: "rate_limit", retryAfterMs: 600_000 });
  });

  test("has the reason of the last error if it has none, and reports if there is none at all", () => {
    const lab = begun().turn();
    lab.notify("error", { error: { message: "x", codexErrorInfo: "serverOverloaded" }, willRetry: false });
    lab.end("failed");
    lab.turn();
    lab.end("failed");
    lab.turn();
    lab.end("tired");
    expect(lab.news()).toEqual([
      { type: "turn_end", error: "x", cause: "overloaded" },
      { type: "turn_end", error: "the agent failed without a reason" },
      { type: "turn_end", error: "the agent ended its turn with an unknown status: tired", cause: "protocol" },
    ]);
  });

  test("comes with the reason if the program rejects the turn, and the next turn is accepted", () => {
    const lab = begun();
    lab.dialogue.turn({ number: 1, text: "go" });
    lab.reply("turn/start", { error: { code: -32600, message: "thread not found: thread-1" } });
    expect(lab.news()).toEqual([{ type: "turn_end", error: "thread not found: thread-1", cause: "protocol" }]);
    lab.turn();
    lab.end();
    expect(lab.news()).toEqual([{ type: "turn_end" }]);
  });
});

test("The usage of Codex is the difference of the totals, and totals that restart count from zero", () => {
  const lab = begun().turn();
  const total = (inputTokens: number, outputTokens: number): void =>
    lab.notify("thread/tokenUsage/updated", { tokenUsage: { total: { inputTokens, outputTokens } } });
  total(100, 10);
  total(100, 10);
  total(250, 15);
  total(30, 3);
  expect(lab.news()).toEqual(
    [
      [100, 10],
      [150, 5],
      [30, 3],
    ].map(([inputTokens, outputTokens]) => ({ type: "usage", inputTokens, outputTokens })),
  );
});

describe("An interrupt of Codex", () => {
  test("waits for the id of the open turn", () => {
    const lab = begun();
    lab.dialogue.interrupt();
    lab.dialogue.turn({ number: 1, text: "go" });
    lab.dialogue.interrupt();
    expect(lab.asked("turn/interrupt")).toBe(false);
    lab.reply("turn/start", { result: { turn: { id: "turn-9" } } });
    expect(lab.request("turn/interrupt")["params"]).toEqual({ threadId: THREAD, turnId: "turn-9" });
    // The turn may have ended just before the interrupt.
    lab.reply("turn/interrupt", { error: { code: -32600, message: "no active turn to interrupt" } });
    expect(lab.news()).toEqual([]);
  });
});

describe("A Codex program that dies in the middle of a turn", () => {
  const died = (lab: CodexLab): void => {
    expect(lab.dialogue.relaunch!()).toEqual(COMMAND);
    lab.news();
    lab.begin();
  };

  test("is started again, resumes the conversation, and receives a note about the restart", () => {
    const lab = begun().turn("first");
    lab.notify("thread/tokenUsage/updated", { tokenUsage: { total: { inputTokens: 100, outputTokens: 10 } } });
    lab.end();
    lab.turn("second");
    died(lab);
    expect(lab.request("thread/resume")["params"]).toMatchObject({ threadId: THREAD, excludeTurns: true });
    lab.reply("thread/resume", { result: { thread: { id: THREAD, turns: [] } } });
    expect(lab.readies).toBe(2);
    // The program repeats earlier usage; the dialogue does not.
    lab.notify("thread/tokenUsage/updated", { tokenUsage: { total: { inputTokens: 100, outputTokens: 10 } } });
    expect(lab.news()).toMatchObject([{ type: "ready", conversation: THREAD }]);
    lab.turn("second");
    expect(JSON.stringify(lab.request("turn/start")["params"])).toMatch(
      /Your process ended in the middle.*was restarted.*second/,
    );
    lab.say("I go on.");
    lab.end();
    expect(lab.news()).toEqual([{ type: "assistant", text: "I go on." }, { type: "turn_end" }]);
    lab.turn("third");
    expect(JSON.stringify(lab.request("turn/start")["params"])).not.toContain("was restarted");
  });

  test("starts a new thread if its first turn is lost, and fails a later turn if the history is lost", () => {
    const missing = { error: { code: -32600, message: "no rollout found for thread id thread-1" } };
    const first = begun().turn("first");
    died(first);
    first.reply("thread/resume", missing);
    first.reply("thread/start", { result: { thread: { id: "thread-2" } } });
    expect(first.news()).toMatchObject([{ type: "ready", conversation: "thread-2" }]);
    const later = begun().turn("first");
    later.end();
    later.turn("second");
    died(later);
    later.reply("thread/resume", missing);
    expect(later.news()).toEqual([
      { type: "turn_end", cause: "died", error: expect.stringContaining("no rollout found") },
    ]);
  });

  test("cannot be resumed before it has a thread", () => {
    const lab = new CodexLab().begin();
    expect(lab.dialogue.relaunch!()).toBeNull();
  });
});

describe("A message during a turn", () => {
  test("waits until Codex has confirmed the turn, and counts as received when Codex accepts it", () => {
    const lab = new CodexLab().beginThread();
    lab.dialogue.turn({ number: 1, text: "do it" });
    lab.dialogue.steer!("0", "mind the heron");
    expect(lab.asked("turn/steer")).toBe(false);
    lab.reply("turn/start", { result: { turn: { id: "turn-1" } } });
    expect(lab.request("turn/steer")["params"]).toEqual({
      threadId: THREAD,
      expectedTurnId: "turn-1",
      input: [{ type: "text", text: "mind the heron", text_elements: [] }],
    });
    lab.reply("turn/steer", { result: { turnId: "turn-1" } });
    expect(lab.of("steered")).toEqual([{ type: "steered", id: "0", text: "mind the heron" }]);
  });

  test("is not received if Codex rejects it, for example after the end of the turn", () => {
    const lab = new CodexLab().beginThread();
    lab.dialogue.turn({ number: 1, text: "do it" });
    lab.reply("turn/start", { result: { turn: { id: "turn-1" } } });
    lab.dialogue.steer!("0", "mind the heron");
    lab.reply("turn/steer", { error: { code: -32600, message: "no active turn to steer" } });
    expect(lab.of("steered")).toEqual([]);
  });
});

describe("The sub-agents of Codex", () => {
  const spawn = (id: string, sender: string, receiver: string, prompt: string) => ({
    type: "collabAgentToolCall",
    id,
    tool: "spawnAgent",
    status: "completed",
    senderThreadId: sender,
    receiverThreadIds: [receiver],
    prompt,
    agentsStates: {},
  });
  const command = (id: string) => ({
    type: "commandExecution",
    id,
    command: "ls",
    processId: "1",
    source: "agent",
    status: "inProgress",
    aggregatedOutput: "",
  });
  const begin = (): CodexLab => {
    const lab = begun();
    lab.turn();
    lab.notify("item/completed", { item: spawn("call-1", THREAD, "outer", "Outer job") });
    lab.notify("turn/started", { threadId: "outer", turn: { id: "turn-outer" } });
    return lab;
  };

  test("are reported with the call that started them, with their tools and tokens, and without their words", () => {
    const lab = begin();
    lab.notify("item/completed", { threadId: "outer", item: spawn("call-2", "outer", "inner", "Inner job") });
    lab.notify("item/started", { threadId: "inner", item: command("command-1") });
    lab.notify("item/completed", { threadId: "inner", item: { type: "agentMessage", id: "m", text: "aside" } });
    const total = { inputTokens: 7, outputTokens: 3 };
    lab.notify("thread/tokenUsage/updated", { threadId: "inner", tokenUsage: { total } });
    const failed = { id: "turn-inner", status: "failed", items: [], error: { message: "no model" } };
    lab.notify("turn/completed", { threadId: "inner", turn: failed });
    const items = [{ type: "agentMessage", id: "n", text: "outer is done" }];
    lab.notify("turn/completed", { threadId: "outer", turn: { id: "turn-outer", status: "completed", items } });
    const done = lab.news();
    expect(done).toMatchObject([
      { type: "tool", id: "call-1", name: "Agent", input: { prompt: "Outer job" } },
      { type: "subagent", id: "outer", phase: "started", text: "Outer job", toolId: "call-1" },
      { type: "tool", id: "call-2", name: "Agent", parent: "call-1" },
      { type: "subagent", id: "inner", phase: "started", toolId: "call-2", parent: "outer" },
      { type: "tool", id: "command-1", name: "Bash", parent: "call-2" },
      { type: "usage", inputTokens: 7, outputTokens: 3 },
      { type: "subagent", id: "inner", phase: "done", status: "failed", text: "no model" },
      { type: "subagent", id: "outer", phase: "done", status: "completed", text: "outer is done" },
    ]);
    expect(done[1]).not.toHaveProperty("parent");
  });

  test("may work, and start others, before the call that started them is completed", () => {
    const lab = begun();
    lab.turn();
    lab.notify("item/started", { threadId: "inner", item: command("command-1") });
    lab.notify("item/completed", { threadId: "outer", item: spawn("call-2", "outer", "inner", "Inner job") });
    expect(lab.news()).toEqual([]);
    lab.notify("item/completed", { item: spawn("call-1", THREAD, "outer", "Outer job") });
    expect(lab.news()).toMatchObject([
      { type: "tool", id: "call-1", name: "Agent" },
      { type: "subagent", id: "outer", phase: "started", toolId: "call-1" },
      { type: "tool", id: "call-2", name: "Agent", parent: "call-1" },
      { type: "subagent", id: "inner", phase: "started", toolId: "call-2", parent: "outer" },
      { type: "tool", id: "command-1", name: "Bash", parent: "call-2" },
    ]);
  });

  test("are interrupted with the turn of the main agent, and end with the process", () => {
    const lab = begin();
    lab.dialogue.interrupt();
    const interrupted = lab.said.filter(({ method }) => method === "turn/interrupt").map(({ params }) => params);
    expect(interrupted).toEqual([
      { threadId: "outer", turnId: "turn-outer" },
      { threadId: THREAD, turnId: lab.turnId },
    ]);
    lab.news();
    lab.dialogue.exited({ code: 1, signal: null, errors: "" });
    expect(lab.news()).toEqual([{ type: "subagent", id: "outer", phase: "done", text: "", status: "cancelled" }]);
  });

  test.each([
    [undefined, {}],
    [0, { "features.multi_agent": false }],
    [2, { "agents.max_depth": 2 }],
  ])("may nest as deeply as the run allows: %s", (subagentDepth, expected) => {
    const lab = begun(subagentDepth === undefined ? {} : { subagentDepth });
    const { config } = lab.request("thread/start")["params"] as { config: Record<string, unknown> };
    const others = Object.entries(config).filter(([name]) => !name.startsWith("mcp_servers."));
    expect(Object.fromEntries(others)).toEqual(expected);
  });
});
