// Claude Code's own files as a session controller. The entries are those of version 2.1.325, shortened.
import { appendFileSync, chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readMessages } from "../../src/session/polled/session-controller.ts";
import { ClaudeSessions } from "../../src/session/claude-sessions/claude-sessions.ts";
import { identify } from "../../src/session/process.ts";

let folder: string;
let project: string;
let sessions: ClaudeSessions;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-claude-"));
  project = join(folder, "projects", "-work");
  mkdirSync(join(folder, "sessions"), { recursive: true });
  mkdirSync(project, { recursive: true });
  sessions = new ClaudeSessions({ env: { ...process.env, CLAUDE_CONFIG_DIR: folder, TUTTI_TOKEN: "secret" } });
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

const entry = (type: string, content: unknown, more: object = {}): string =>
  `${JSON.stringify({ type, isSidechain: false, cwd: folder, uuid: "u", message: { role: type, content }, ...more })}\n`;
const use = (id: string, name = "Bash") => ({ type: "tool_use", id, name, input: { description: "a job" } });
const result = (id: string) => [{ type: "tool_result", tool_use_id: id, content: "x".repeat(1000) }];

function write(id: string, ...lines: string[]): void {
  const [session, agent] = id.split("/");
  const inner = join(project, session!, "subagents");
  if (agent !== undefined) mkdirSync(inner, { recursive: true });
  appendFileSync(
    agent === undefined ? join(project, `${id}.jsonl`) : join(inner, `agent-${agent}.jsonl`),
    lines.join(""),
  );
}

function open(session: string, pid = process.pid, procStart = identify(pid)!.startTime): void {
  writeFileSync(join(folder, "sessions", `${pid}.json`), JSON.stringify({ pid, sessionId: session, procStart }));
}

const textsOf = async (id: string) => readMessages(await sessions.getTranscript(id)).map(({ text }) => text);

describe("a session of Claude Code", () => {
  test("is listed with its folder, and its new messages are read as they arrive", async () => {
    write("s1", '{"type":"queue-operation"}\n', "no JSON\n", entry("user", "Hello"));
    expect(await sessions.getAllSessions()).toEqual([{ id: "s1", cwd: folder }]);
    expect(await textsOf("s1")).toEqual(["Hello"]);
    const line = entry("assistant", [{ type: "text", text: "Grüße" }]);
    write("s1", line.slice(0, -9));
    expect(await textsOf("s1")).toEqual(["Hello"]);
    write("s1", line.slice(-9), entry("user", "and?", { isMeta: true }), entry("user", "more", { isSidechain: true }));
    expect(await textsOf("s1")).toEqual(["Hello", "Grüße"]);
    // The program has rewritten the file.
    writeFileSync(join(project, "s1.jsonl"), entry("user", "Hi"));
    expect(await textsOf("s1")).toEqual(["Hi"]);
    expect(await sessions.getSession("s2")).toBeNull();
    await expect(sessions.getTranscript("../s1")).rejects.toMatchObject({ code: "session_not_found" });
  });

  test("is at work while a tool or a sub-agent in the background runs, or the provider refuses", async () => {
    const state = async () => (await sessions.getSession("s1"))!;
    open("s1");
    write("s1", entry("user", "Hello"), entry("assistant", [use("t1")]));
    expect(await state()).toMatchObject({ isOpen: true, isRunning: true, isGone: false });
    write("s1", entry("user", result("t1")), entry("assistant", [use("t2", "Agent")]));
    write("s1", entry("user", result("t2"), { toolUseResult: { status: "async_launched", agentId: "a" } }));
    write("s1", entry("assistant", "I wait."));
    expect(await state()).toMatchObject({ isRunning: true });
    write("s1", entry("user", "<task-notification>\n<task-id>a</task-id>\n<tool-use-id>t2</tool-use-id>"));
    write("s1", entry("assistant", "Done."));
    expect(await state()).toMatchObject({ isRunning: false });
    write("s1", entry("user", "go on"), entry("assistant", "Limit reached", { isApiErrorMessage: true }));
    expect(await state()).toMatchObject({ isRunning: true });
    expect(await textsOf("s1")).not.toContain("Limit reached");
  });

  test("is gone if no process has it open in the middle of a turn", async () => {
    write("s1", entry("user", "Hello"), entry("assistant", [use("t1")]));
    expect(await sessions.getSession("s1")).toMatchObject({ isOpen: false, isRunning: false, isGone: true });
    // Another process has the id of the one that has ended.
    open("s1", process.pid, "1");
    expect(await sessions.getSession("s1")).toMatchObject({ isOpen: false });
    write("s1", entry("user", result("t1")), entry("assistant", "Done."));
    expect(await sessions.getSession("s1")).toMatchObject({ isGone: false });
    // Older versions do not say which sessions are open. Then a recent change does.
    rmSync(join(folder, "sessions"), { recursive: true });
    expect(await sessions.getSession("s1")).toMatchObject({ isOpen: true });
  });

  test("names its sub-agents with their parents and tool ids, and which results it has", async () => {
    const meta = (id: string, data: object) =>
      writeFileSync(join(project, "s1/subagents", `agent-${id}.meta.json`), JSON.stringify(data));
    write("s1", entry("user", "Hello"), entry("assistant", [use("t1", "Agent")]));
    for (const id of ["s1/a", "s1/b", "s1/c"]) write(id, entry("assistant", `I am ${id}`, { isSidechain: true }));
    meta("a", { toolUseId: "t1" });
    meta("b", { toolUseId: "t2", parentAgentId: "a" });
    expect(await sessions.getSubSessions("s1")).toEqual([
      { id: "s1/a", parentSessionId: "s1", taskToolId: "t1" },
      { id: "s1/b", parentSessionId: "s1/a", taskToolId: "t2" },
      { id: "s1/c", parentSessionId: "s1", taskToolId: null },
    ]);
    expect(await textsOf("s1/b")).toEqual(["I am s1/b"]);
    expect(await sessions.getSession("s1/a")).toMatchObject({ isReturned: false });
    write("s1", entry("user", result("t1")));
    expect(await sessions.getSession("s1/a")).toMatchObject({ isReturned: true });
    await expect(sessions.sendMessage("s1/a", "x")).rejects.toMatchObject({ code: "wrong_state" });
  });
});

describe("a message to a session of Claude Code", () => {
  /** A program in place of `claude` that notes its call. */
  function install(script: string): void {
    const file = join(folder, "claude");
    writeFileSync(
      file,
      `#!/bin/sh\necho "$PWD $* token=$TUTTI_TOKEN" > ${folder}/called\ncat > ${folder}/received\n${script}\n`,
    );
    chmodSync(file, 0o755);
    vi.stubEnv("PATH", `${folder}${delimiter}${process.env["PATH"]}`);
  }

  test("resumes it in its folder, without Tutti's own settings, and is delivered when the program repeats it", async () => {
    write("s1", entry("user", "Hello"), entry("assistant", "Hi"));
    install(`echo '{"type":"user","isReplay":true}'`);
    await sessions.sendMessage("s1", "the result");
    expect(readFileSync(join(folder, "called"), "utf8")).toMatch(/^\S+ -p .*--resume s1 token=\n$/);
    expect(JSON.parse(readFileSync(join(folder, "received"), "utf8"))).toMatchObject({
      message: { content: [{ text: "the result" }] },
    });
  });

  test("is refused with the words of the program", async () => {
    write("s1", entry("user", "Hello"));
    install(`echo '{"type":"result","errors":["No conversation found"]}'; exit 1`);
    await expect(sessions.sendMessage("s1", "x")).rejects.toMatchObject({
      code: "agent_not_startable",
      message: expect.stringContaining("No conversation found"),
    });
  });
});
