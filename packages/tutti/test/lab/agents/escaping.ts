// An agent whose worker makes all attempts of `escape-attempts.ts`, does ordinary work, and reports both in a file.
import { execSync, spawnSync } from "node:child_process";
import { openSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { escapeAttempts, type EscapeAttempt, type Surroundings } from "./escape-attempts.ts";

const { TUTTI_MCP_URL: url = "", TUTTI_MCP_TOKEN: token, TUTTI_TASK_ID: task, TMPDIR, SURROUNDINGS } = process.env;
const tell = (line: object) => console.log(JSON.stringify(line));

/** Returns what the agent has obtained, or null if the attempt failed. */
function make({ kind, path, command }: EscapeAttempt): string | null {
  try {
    if (kind === "read") return readFileSync(path!, "latin1");
    if (kind === "open") return String(openSync(path!, "r+"));
    if (kind === "command") return spawnSync("/bin/sh", ["-c", command!], { encoding: "latin1" }).stdout;
    writeFileSync(path!, "escaped\n");
    return "written";
  } catch {
    return null;
  }
}

async function useTool(): Promise<string> {
  const [, socketPath, path] = /^http\+unix:\/\/([^/]+)(\/.*)$/.exec(url) ?? [];
  if (socketPath === undefined) return "the address is no socket";
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "report_progress", arguments: { percent: 50, action: "escaping" } },
  });
  const headers = {
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  };
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const options = { socketPath: decodeURIComponent(socketPath), path, method: "POST", headers };
  const sent = request(options, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => (text += part));
    response.on("end", () => resolve(text));
  });
  sent.on("error", reject).end(body);
  return promise;
}

async function work(): Promise<void> {
  const attempts = escapeAttempts(JSON.parse(SURROUNDINGS!) as Surroundings);
  const results = Object.fromEntries(attempts.map((attempt) => [attempt.name, make(attempt)]));
  writeFileSync(join(TMPDIR!, "scratch"), "x");
  writeFileSync("own.txt", "mine\n");
  const git = (args: string) => execSync(`git ${args}`, { encoding: "utf8" }).trim();
  git("add own.txt");
  git("commit -q -m 'The work of the agent'");
  const ordinary = {
    subject: git("log -1 --format=%s"),
    status: git("status --porcelain own.txt"),
    tool: await useTool(),
  };
  writeFileSync("report.json", JSON.stringify({ results, ordinary, pid: process.pid, tmpdir: TMPDIR }));
}

const BLOCKS: Record<string, [string, object]> = {
  analysis: ["analysis", { summary: "small", recommended_splits: 1 }],
  taskPlanning: ["task_list", { tasks: [{ id: "a", title: "A", description: "Escape" }] }],
  workerExecution: ["completion", { task_id: "a", status: "success", summary: "tried" }],
  aggregation: ["aggregation", { status: "success", summary: "one task" }],
  verification: ["verification", { status: "passed", summary: "all is well" }],
};

for await (const line of createInterface({ input: process.stdin })) {
  const { phase } = JSON.parse(line) as { phase: string };
  if (task !== undefined) await work();
  const [name, data] = BLOCKS[phase]!;
  const block = JSON.stringify({ phase: name, data });
  tell({ type: "assistant", text: `<<<ORCHESTRATOR_RESPONSE>>>${block}<<<END_ORCHESTRATOR_RESPONSE>>>` });
  tell({ type: "turn_end" });
}
