// The commands on message files.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { main } from "../../src/cli/main.ts";
import { assignment, ended, report } from "../mailbox/mailbox-lab.ts";
import * as agentMessages from "../protocol/messages/examples.ts";

const LAUNCHER = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
const BOX = ".claude-orchestrator/tasks/messages/to-developer.json";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-messages-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command in this process, because a new process spends most of its time on starting. */
async function tutti(args: string[]): Promise<Ended> {
  const result: Ended = { code: null, stdout: "", stderr: "" };
  const streams = (["stdout", "stderr"] as const).map((name) =>
    vi.spyOn(process[name], "write").mockImplementation((text) => {
      result[name] += String(text);
      return true;
    }),
  );
  const previousFolder = process.cwd();
  process.chdir(folder);
  try {
    result.code = await main(args);
  } finally {
    process.chdir(previousFolder);
    for (const stream of streams) stream.mockRestore();
  }
  return result;
}

/** Runs a command as a real process with `input` on stdin. */
function pipe(args: string[], input: string): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, ...args], {
    cwd: folder,
    input,
    encoding: "utf8",
  });
  return { code: status, stdout, stderr };
}

async function json(args: string[], input?: string): Promise<{ code: number | null; value: Record<string, unknown> }> {
  const all = ["--json", ...args];
  const { code, stdout, stderr } = input === undefined ? await tutti(all) : pipe(all, input);
  expect(stderr).toBe("");
  return { code, value: JSON.parse(stdout) as Record<string, unknown> };
}

function write(name: string, content: unknown): string {
  const file = join(folder, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return name;
}

const block = (value: object) =>
  `Done.\n<<<ORCHESTRATOR_RESPONSE>>>\n${JSON.stringify(value)}\n<<<END_ORCHESTRATOR_RESPONSE>>>\n`;

describe("tutti mailbox", async () => {
  it("creates, fills, shows and clears a mailbox (D1-002, D1-032, D1-033, D1-034)", async () => {
    expect((await tutti(["mailbox", "init"])).stdout).toContain("tasks/queue.json");
    write("message.json", assignment("task-001"));
    expect(await tutti(["mailbox", "send", "developer", "--file", "message.json"])).toMatchObject({
      code: 0,
      stderr: "",
    });
    const second = await tutti(["mailbox", "send", "developer", "--json", JSON.stringify(assignment("task-002"))]);
    expect(JSON.parse(second.stdout)).toMatchObject({ box: "developer", message: { taskId: "task-002" } });

    const tasks = async (...flags: string[]) => {
      const { value } = await json(["mailbox", "read", "developer", ...flags]);
      return (value["messages"] as { message: { taskId: string } }[]).map(({ message }) => message.taskId);
    };
    expect(await tasks("--peek")).toEqual(["task-001", "task-002"]);
    expect(await tasks("--task", "task-002")).toEqual(["task-002"]);
    expect(await tasks()).toEqual(["task-001"]);
    expect(await tasks()).toEqual([]);
    expect(await tasks("--all")).toEqual(["task-001", "task-002"]);
    expect(await tasks("--as", "auditor")).toEqual(["task-001", "task-002"]);

    const { code, value } = await json(["mailbox", "clear", "developer"]);
    expect([code, value["cleared"]]).toEqual([0, 2]);
    expect(JSON.parse(readFileSync(join(folder, BOX), "utf8"))).toMatchObject({ messages: [] });
    expect(readFileSync(value["archive"] as string, "utf8")).toContain("task-001");
  });

  it("passes messages between the team lead and the developer through files only (D1-001, D1-003)", async () => {
    // The agents are separate processes that share nothing but the files of the project.
    const sent = pipe(["--json", "mailbox", "send", "developer", JSON.stringify(assignment("task-001"))], "");
    expect(JSON.parse(sent.stdout)).toMatchObject({ box: "developer", warnings: [] });
    const received = pipe(["--json", "mailbox", "read", "developer"], "");
    expect(JSON.parse(received.stdout)).toMatchObject({ messages: [{ message: assignment("task-001") }], total: 1 });
    pipe(["mailbox", "send", "team-lead", JSON.stringify(report("task-001"))], "");
    const { value } = await json(["mailbox", "read", "team-lead"]);
    expect(value).toMatchObject({ messages: [{ message: report("task-001") }], total: 1 });
    const files = readdirSync(join(folder, dirname(BOX))).toSorted();
    expect(files).toEqual(["to-developer.json", "to-team-lead.json"]);
  });

  it("refuses an invalid message with exit 2 and lists every problem (D1-056)", async () => {
    const text = JSON.stringify({ ...assignment("task-001"), platform: "desktop", filesToCreate: "a.ts" });
    const { code, value } = await json(["mailbox", "send", "developer", text]);
    expect(code).toBe(2);
    expect(value).toMatchObject({
      error: { code: "invalid_input", details: [{ path: "platform" }, { path: "filesToCreate" }] },
    });
    expect(existsSync(join(folder, ".claude-orchestrator"))).toBe(false);
    expect((await tutti(["mailbox", "send", "developer"])).code).toBe(2);
    expect((await tutti(["mailbox", "send", "developer", "--file", "nowhere.json"])).code).toBe(3);
    expect((await tutti(["mailbox", "read", "developer", "--dir", "nowhere"])).code).toBe(3);
  });

  it("creates the root layout on request, and refuses a second layout with exit 4", async () => {
    expect((await json(["mailbox", "init", "app", "--layout", "root"])).value).toMatchObject({ layout: "root" });
    expect(existsSync(join(folder, "app/.claude-orchestrator/messages/to-team-lead.json"))).toBe(true);
    expect(await json(["mailbox", "init", "app", "--layout", "document"])).toMatchObject({ code: 4 });
  });

  it("watch prints each message once, also across a restart, until a signal ends it (D1-033)", async () => {
    write(BOX, { messages: [assignment("task-001")], lastRead: null });
    const watch = async (until: string, meanwhile: () => void) => {
      const args = [LAUNCHER, "--json", "mailbox", "watch", "developer"];
      const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
      const end = ended(child);
      let text = "";
      child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
        if (text === "") meanwhile();
        text += chunk;
        if (text.includes(until)) child.kill("SIGINT");
      });
      expect(await end).toBe(0);
      const lines = text.trim().split("\n");
      return lines.map((line) => (JSON.parse(line) as { message: { taskId: string } }).message.taskId);
    };
    const send = async (id: string) => tutti(["mailbox", "send", "developer", JSON.stringify(assignment(id))]);
    expect(await watch("task-002", () => void send("task-002"))).toEqual(["task-001", "task-002"]);
    await send("task-003");
    expect(await watch("task-003", () => {})).toEqual(["task-003"]);
  });

  it("watch ends when its output is no longer read, and a message that did not arrive stays unread", async () => {
    write(BOX, { messages: [assignment("task-001")], lastRead: null });
    const args = [LAUNCHER, "--json", "mailbox", "watch", "developer"];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
    const end = ended(child);
    await once(child.stdout, "data");
    // Wait until the first message counts as read; the second then finds a closed pipe.
    while (readFileSync(join(folder, BOX), "utf8").includes('"lastRead":null')) await sleep(5);
    child.stdout.destroy();
    await tutti(["mailbox", "send", "developer", JSON.stringify(assignment("task-002"))]);
    expect(await end).toBe(0);
    const { value } = await json(["mailbox", "read", "developer"]);
    expect(value["messages"]).toMatchObject([{ message: { taskId: "task-002" } }]);
  });
});

describe("tutti validate", async () => {
  it("detects the protocol of every file, and exits with 0 if all are valid", async () => {
    const files = [
      write("box.json", { messages: [assignment("a"), report("b")], lastRead: null }),
      write("one.json", `\ufeff${JSON.stringify(report("a"))}`),
      write("answer.txt", block({ phase: "progress", data: { task_id: "a", status: "running" } })),
      write("delegation.json", {
        taskId: "a",
        delegatedToMode: "code",
        objective: "Add a search field",
        timestamp: "2026-03-01T10:00:00Z",
      }),
    ];
    const { code, value } = await json(["validate", ...files, "--lenient"]);
    expect(
      (value["files"] as { protocol: string; valid: boolean }[]).map(({ protocol, valid }) => [protocol, valid]),
    ).toEqual([
      ["mailbox", true],
      ["mailbox", true],
      ["response", true],
      ["delegation", true],
    ]);
    expect(code).toBe(0);
    expect(await tutti(["validate", "box.json"])).toMatchObject({ code: 0, stderr: "" });
  });

  it("reports every problem of every message with its path, with exit 1 (D1-007, D1-010, D1-018, D1-024, D1-026)", async () => {
    const { platform: _, ...withoutPlatform } = assignment("a");
    const buildResult = { status: "maybe", command: "make", errors: "none" };
    write("box.json", {
      messages: [
        { ...withoutPlatform, filesToCreate: "x" },
        { ...report("b"), status: "done", buildResult },
      ],
      lastRead: 7,
    });
    const { code, value } = await json(["validate", "box.json"]);
    expect(code).toBe(1);
    const [file] = value["files"] as { problems: { path: string; sentence: string }[] }[];
    expect(file!.problems.map(({ path }) => path).toSorted()).toEqual([
      "lastRead",
      "messages[0].filesToCreate",
      "messages[0].platform",
      "messages[1].buildResult.errors",
      "messages[1].buildResult.status",
      "messages[1].status",
    ]);
    const inWords = await tutti(["validate", "box.json"]);
    expect(inWords.stdout).toContain("box.json: not valid (mailbox, 2 messages)");
    expect(inWords.stdout).toContain("error at messages[1].status: ");
  });

  it("checks every message between agents against its schema (D3-113)", async () => {
    const { assignment: assigned, acknowledgment, completion, rejection, resolution } = agentMessages;
    const escalation = {
      ...agentMessages.escalation,
      blocker_type: "scope_change",
      severity: "low",
      escalate_to: "human",
    };
    const sound = [{ ...assigned, priority: "low" }, acknowledgment, completion, rejection, escalation, resolution];
    write("sound.json", sound);
    expect(await json(["validate", "sound.json"])).toMatchObject({ code: 0, value: { files: [{ problems: [] }] } });
    const last = ["acceptance_criteria", "status", "output", "issues", "description", "resume_task"];
    write(
      "damaged.json",
      sound.map((message, index) => ({ ...message, [last[index]!]: 7 })),
    );
    const { code, value } = await json(["validate", "damaged.json"]);
    expect(code).toBe(1);
    const [file] = value["files"] as { problems: { path: string; severity: string }[] }[];
    expect(file!.problems.map(({ path, severity }) => [path, severity])).toEqual(
      last.map((name, index) => [`[${index}].${name}`, "error"]),
    );
  });

  it("reads folders and stdin, and skips files that are not messages (D1-051, D1-052)", async () => {
    expect((await tutti(["mailbox", "init"])).code).toBe(0);
    write("package.json", { name: "app", version: "1.0.0" });
    write("README.md", "# App\n");
    write("answers/1.md", block({ phase: "progress", data: {} }));
    write("answers/cut.json", JSON.stringify(assignment("a")).slice(0, 80));
    const { code, value } = await json(["validate", "."]);
    expect(code).toBe(1);
    const files = value["files"] as { file: string; valid: boolean }[];
    expect(files.filter(({ valid }) => !valid).map(({ file }) => file)).toEqual(["answers/1.md", "answers/cut.json"]);
    expect(files.map(({ file }) => file)).toContain(".claude-orchestrator/tasks/queue.json");
    expect(files.map(({ file }) => file)).toContain(".claude-orchestrator/tasks/status.json");
    expect(value["skipped"]).toEqual([".claude-orchestrator/logs/log.md", "README.md", "package.json"]);

    expect(await json(["validate", "-"], JSON.stringify(report("a")))).toMatchObject({
      code: 0,
      value: { valid: true },
    });
    expect((await json(["validate", "-"], "hello")).code).toBe(1);
    expect((await json(["validate", "-", "--protocol", "messages"], JSON.stringify(report("a")))).code).toBe(1);
  });

  it("exits with 3 for a missing file and with 2 for wrong usage, before it reads any file", async () => {
    write("good.json", report("a"));
    const { code, value } = await json(["validate", "good.json", "nowhere.json"]);
    expect([code, value["error"]]).toMatchObject([3, { code: "item_not_found" }]);
    expect((await tutti(["validate"])).code).toBe(2);
    expect((await tutti(["validate", "good.json", "--protocol", "morse"])).code).toBe(2);
  });
});

describe("tutti translate", async () => {
  it("prints the message in the other protocol, and lists on stderr the members that it could not carry over", async () => {
    write("report.json", report("task-001"));
    const { code, stdout, stderr } = await tutti([
      "translate",
      "report.json",
      "--from",
      "mailbox",
      "--to",
      "delegation",
    ]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ taskId: "task-001", summary: "The search field is there." });
    expect(stderr).toMatch(/not carried over \(platform\)/);
    const asJson = await json(["translate", "report.json", "--to", "delegation"]);
    expect(asJson.value).toMatchObject({ from: "mailbox", to: "delegation", messages: [JSON.parse(stdout)] });
    expect((asJson.value["lost"] as { path: string }[]).map(({ path }) => path)).toContain("platform");
  });

  it("writes a delimited answer as a block that validates", async () => {
    const { code, stdout } = pipe(["translate", "-", "--to", "response"], JSON.stringify(report("task-001")));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^<<<ORCHESTRATOR_RESPONSE>>>\n/);
    expect(await json(["validate", "-"], stdout)).toMatchObject({
      code: 0,
      value: { files: [{ protocol: "response", messages: 1 }] },
    });
  });

  it("exits with 1 for a text without a message, with 2 for wrong usage and with 3 for a missing file", async () => {
    expect((await json(["translate", "-", "--to", "messages"], '{"a": 1}')).code).toBe(1);
    expect((await tutti(["translate", "-", "--from", "mailbox"])).code).toBe(2);
    expect((await tutti(["translate", "nowhere.json", "--to", "messages"])).code).toBe(3);
  });
});

describe("a command that reads stdin", () => {
  const commands = [
    ["validate", "-"],
    ["translate", "-", "--to", "messages"],
    ["mailbox", "send", "developer", "--file", "-"],
    ["templates", "validate", "-"],
    ["import", "-"],
  ];

  it.each(commands)("ends with 130 on a signal while its input is open: %s %s", async (...args) => {
    const stdio = ["pipe", "ignore", "inherit"] as const;
    const env = { ...process.env, TUTTI_DATA_DIR: join(folder, "data") };
    const child = spawn(process.execPath, [LAUNCHER, ...args], { cwd: folder, stdio: [...stdio], env });
    const end = ended(child);
    // The child has begun to read once it has taken more than a pipe holds.
    await new Promise((resolve) => child.stdin.on("error", resolve).write(" ".repeat(1024 * 1024), resolve));
    child.kill("SIGINT");
    onTestFinished(() => void child.kill("SIGKILL"));
    expect(await end).toBe(130);
  });
});
