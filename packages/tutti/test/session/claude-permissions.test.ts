// Plays recordings of the real program with permission requests.
import { mkdtempSync, mkdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ClaudeLab } from "./claude-lab.ts";
import type { Permissions } from "../../src/schema/permissions.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "tutti-claude-")));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function ready(permissions: Partial<Permissions> = {}): ClaudeLab {
  const lab = new ClaudeLab({ permissions, cwd: folder });
  lab.shakeHands();
  lab.turn();
  return lab;
}

const wish = (tool: string, input: object, id = "request") => ({
  type: "control_request",
  request_id: id,
  request: { subtype: "can_use_tool", tool_name: tool, input, tool_use_id: `use-${id}` },
});

const beforeTool = (tool: string, input: object) => ({
  type: "control_request",
  request_id: "request",
  request: { subtype: "hook_callback", input: { tool_name: tool, tool_input: input, tool_use_id: "use" } },
});

/** The answer to the program's last request. */
function answered(lab: ClaudeLab): Record<string, unknown> | undefined {
  const last = lab.said.at(-1) as { type: string; response?: { response: Record<string, unknown> } };
  return last.type === "control_response" ? last.response!.response : undefined;
}

const decision = (lab: ClaudeLab) =>
  (answered(lab)?.["hookSpecificOutput"] as { permissionDecision?: string } | undefined)?.permissionDecision;

test("A file in the workspace is written without a question, with unchanged input", () => {
  const lab = new ClaudeLab();
  lab.play("claude-state-perm");
  expect(lab.of("ask")).toEqual([]);
  const answers = lab.said.filter(({ type }) => type === "control_response");
  expect(answers).toMatchObject([
    {
      response: {
        subtype: "success",
        response: { behavior: "allow", updatedInput: { file_path: "/home/dev/project/sp.txt" } },
      },
    },
  ]);
  expect(lab.of("tool").map(({ name }) => name)).toEqual(["Write"]);
  expect(lab.of("turn_end")).toEqual([{ type: "turn_end" }]);
});

test("A file outside the workspace needs permission, also behind a link in the workspace", () => {
  const lab = ready();
  mkdirSync(join(folder, "src"));
  symlinkSync(tmpdir(), join(folder, "link"));
  lab.hear(wish("Write", { file_path: join(folder, "src/new/deep.ts") }, "inside"));
  expect(answered(lab)).toMatchObject({ behavior: "allow" });
  lab.hear(
    wish("Edit", { file_path: join(folder, "link/x") }, "linked"),
    wish("Write", { file_path: "/etc/x" }, "out"),
  );
  expect(lab.of("ask").map(({ question }) => question)).toEqual([
    `May the agent change the file: ${join(realpathSync(tmpdir()), "x")}`,
    "May the agent change the file: /etc/x",
  ]);
});

test("Reading and searching outside the workspace needs permission too", () => {
  const lab = ready();
  mkdirSync(join(folder, "src"));
  const inside: [string, object][] = [
    ["Read", { file_path: join(folder, "src/a.ts") }],
    ["Grep", { pattern: "/etc/passwd" }],
    ["Grep", { pattern: "x", path: "src" }],
    ["Glob", { pattern: "src/**/*.ts" }],
    ["Glob", { pattern: "**/*", path: folder }],
  ];
  for (const [tool, input] of inside) {
    lab.hear(wish(tool, input));
    expect(answered(lab), JSON.stringify(input)).toMatchObject({ behavior: "allow" });
  }
  const outside: [string, object][] = [
    ["Read", { file_path: "/etc/hosts" }],
    ["Read", { file_path: join(folder, "../other") }],
    ["Grep", { pattern: "x", path: "/home" }],
    ["Grep", { pattern: "x", path: ".." }],
    ["Glob", { pattern: "/etc/*" }],
    ["Glob", { pattern: "../*" }],
    ["Glob", { pattern: "*/../../*" }],
    ["Glob", { pattern: "*", path: "/" }],
  ];
  for (const [i, [tool, input]] of outside.entries()) lab.hear(wish(tool, input, `out-${i}`));
  expect(lab.of("ask").map(({ id }) => id)).toEqual(outside.map((_, i) => `out-${i}`));
});

test('A command needs permission, and only the answer "allow" permits it', () => {
  for (const [text, expected] of [
    ["allow", { behavior: "allow", updatedInput: { command: "npm test" } }],
    ["refuse", { behavior: "deny", message: expect.stringContaining("The user refused this") }],
    ["use npm run check instead", { behavior: "deny", message: "use npm run check instead" }],
  ] as const) {
    const lab = ready();
    lab.hear(wish("Bash", { command: "npm test" }));
    expect(lab.of("ask")).toEqual([
      {
        type: "ask",
        id: "request",
        question: "May the agent run: npm test",
        options: ["allow", "refuse"],
        permission: { tool: "Bash", subject: "npm test" },
      },
    ]);
    expect(answered(lab)).toBeUndefined();
    lab.dialogue.answer("request", text);
    expect(answered(lab)).toEqual(expected);
    lab.dialogue.answer("request", "allow");
    expect(lab.said.filter(({ type }) => type === "control_response")).toHaveLength(1);
  }
});

test("Listed tools are allowed or refused without a question", () => {
  const lab = ready({ mode: "listed", allow: ["Bash(npm test*)"] });
  lab.hear(wish("Bash", { command: "npm test -- a" }));
  expect(answered(lab)).toMatchObject({ behavior: "allow" });
  lab.hear(wish("Bash", { command: "curl x" }));
  expect(answered(lab)).toMatchObject({
    behavior: "deny",
    message: expect.stringContaining("permissions of this run"),
  });
  expect(lab.of("ask")).toEqual([]);
});

test("A sub-agent that would nest deeper than the run allows is refused before it starts", () => {
  const nested = (subagentDepth: number): ClaudeLab => {
    const lab = new ClaudeLab({ subagentDepth, cwd: folder });
    lab.shakeHands();
    lab.turn();
    const started = { type: "system", subtype: "task_started", subagent_type: "Plan", description: "part" };
    lab.hear({ ...started, task_id: "outer", tool_use_id: "1" });
    lab.hear({ ...started, task_id: "inner", tool_use_id: "2", parent_task_id: "outer" });
    return lab;
  };
  const starts = (lab: ClaudeLab, agent?: string) => {
    const { hooks } = (lab.said[0] as { request: { hooks: { PreToolUse: { hookCallbackIds: string[] }[] } } }).request;
    const [{ hookCallbackIds }] = hooks.PreToolUse as [{ hookCallbackIds: string[] }];
    const input = { tool_name: "Agent", tool_use_id: "use", ...(agent === undefined ? {} : { agent_id: agent }) };
    const request = { subtype: "hook_callback", callback_id: hookCallbackIds[0], input };
    lab.hear({ type: "control_request", request_id: "request", request });
    return decision(lab) ?? "default";
  };
  const decisions = [0, 1, 2, 3].map((depth) => [undefined, "outer", "inner"].map((id) => starts(nested(depth), id)));
  expect(decisions).toEqual([
    ["deny", "deny", "deny"],
    ["default", "deny", "deny"],
    ["default", "default", "deny"],
    ["default", "default", "default"],
  ]);
});

test("A run that is stricter than the program gets a hook before every tool", () => {
  const hooks = (lab: ClaudeLab) => (lab.said[0] as { request: { hooks?: object } }).request.hooks;
  expect(hooks(ready())).toBeUndefined();
  expect(hooks(ready({ mode: "all" }))).toBeUndefined();
  const lab = ready({ mode: "all", refuse: ["Bash(rm *)", "WebFetch"] });
  expect(hooks(lab)).toEqual({ PreToolUse: [{ hookCallbackIds: [expect.any(String)] }] });
  lab.hear(beforeTool("Bash", { command: "rm -r src" }));
  expect(decision(lab)).toBe("deny");
  lab.hear(beforeTool("WebFetch", { url: "https://example.org" }));
  expect(decision(lab)).toBe("deny");
  lab.hear(beforeTool("Bash", { command: "ls" }));
  expect(answered(lab)).toEqual({});
  const asking = ready({ mode: "ask" });
  asking.hear(beforeTool("Bash", { command: "ls" }));
  expect(decision(asking)).toBe("ask");
  asking.hear(beforeTool("Read", { file_path: "a" }));
  expect(answered(asking)).toEqual({});
  const listed = ready({ mode: "listed", allow: ["Edit"] });
  listed.hear(beforeTool("Bash", { command: "ls" }));
  expect(decision(listed)).toBe("deny");
  listed.hear(beforeTool("TodoWrite", { todos: [] }));
  expect(answered(listed)).toEqual({});
});

test("A question of the agent has its options, and the answer is keyed by the question's text", () => {
  const lab = new ClaudeLab({ permissions: { mode: "all" } });
  lab.play("claude-ask-user");
  expect(lab.of("ask")).toMatchObject([{ question: "Which colour?\n- Red: r\n- Blue: b", options: ["Red", "Blue"] }]);
  expect(lab.of("ask")[0]).not.toHaveProperty("permission");
  lab.dialogue.answer(lab.of("ask")[0]!.id, "Blue");
  expect(answered(lab)).toMatchObject({ behavior: "allow", updatedInput: { answers: { "Which colour?": "Blue" } } });
});

test("A question that the program cancels is withdrawn", () => {
  const lab = new ClaudeLab({ permissions: { mode: "ask" } });
  lab.play("claude-perm-cancel");
  expect(lab.of("ask")).toHaveLength(1);
  expect(lab.of("ask_cancelled")).toEqual([{ type: "ask_cancelled", id: lab.of("ask")[0]!.id }]);
  lab.dialogue.answer(lab.of("ask")[0]!.id, "allow");
  expect(answered(lab)).toBeUndefined();
});

test("Questions of an exited process are withdrawn when another process replaces it", () => {
  const lab = ready();
  lab.hear(wish("Bash", { command: "npm test" }));
  lab.dialogue.open();
  expect(lab.of("ask_cancelled")).toEqual([{ type: "ask_cancelled", id: "request" }]);
});

test("An unknown request gets an error, so that the program does not wait forever", () => {
  const lab = ready();
  lab.hear({ type: "control_request", request_id: "r", request: { subtype: "elicitation" } });
  expect(lab.said.at(-1)).toEqual({
    type: "control_response",
    response: { subtype: "error", request_id: "r", error: "not supported" },
  });
});
