// Runs the real agent programs at their pinned versions directly against the scripted model. A failure here is one of
// the endpoint or a program, not of Tutti.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agentProgram } from "../../../../scripts/agents.mjs";
import { finished, type Finished } from "../lab/lab.ts";
import { agentEnv } from "../lab/model/agent-env.ts";
import { startModel, type ModelEndpoint } from "../lab/model/model-endpoint.ts";
import { byPrompt, inOrder } from "../lab/model/script.ts";
import { die, fail, run, say, think, usage, write } from "../lab/model/step.ts";

const script = byPrompt({
  "Say hello": inOrder([think("A greeting."), say("Hello from the script."), usage({ input: 1234, output: 56 })]),
  "Write a page": inOrder(
    [say("I write it."), write("docs/page.md", "# A page\n\nwith „ünïcode“ 🎼\n")],
    [run("wc -l < docs/page.md > docs/lines.txt")],
    [say("The page is written.")],
  ),
  "Be refused": inOrder([fail("badRequest", { message: "scripted refusal of this request" })]),
  "Break off": () => [say("These words come, and then"), die()],
  // Some versions continue by themselves after that, and must be cut off again.
  "cut off mid-stream": () => [say("These words come, and then"), die()],
});

const programs = [
  {
    name: "claude",
    args: ["-p", "--output-format", "stream-json", "--verbose", "--permission-mode", "acceptEdits"],
    extra: ["--allowedTools", "Bash"],
    writes: "Write",
    runs: "Bash",
    repeats: true,
    usage: /"input_tokens":1234,.*"output_tokens":56/,
  },
  {
    name: "codex",
    args: ["exec", "--json", "--skip-git-repo-check", "--sandbox", "workspace-write"],
    extra: [],
    writes: "apply_patch",
    runs: "exec_command",
    repeats: true,
    usage: /"input_tokens":1234,.*"output_tokens":56/,
  },
  {
    name: "gemini",
    args: ["--output-format", "stream-json", "--yolo", "--skip-trust", "--prompt"],
    extra: [],
    writes: "write_file",
    runs: "run_shell_command",
    repeats: false,
    usage: /"input_tokens":1234,"output_tokens":56/,
  },
] as const;

let model: ModelEndpoint;
let folder: string;

beforeEach(async () => {
  model = await startModel(script);
  folder = mkdtempSync(join(tmpdir(), "tutti-agents-"));
  mkdirSync(join(folder, "work"));
});

afterEach(async () => {
  await model.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
});

describe.each(programs)("$name", (program) => {
  const ask = (prompt: string): Promise<Finished> =>
    finished(
      spawn(agentProgram(program.name), [...program.args, prompt, ...program.extra], {
        cwd: join(folder, "work"),
        env: agentEnv(program.name, model, folder),
        stdio: ["ignore", "pipe", "pipe"],
      }),
    );

  test("answers with the text and usage of the script, after one request that offers its tools", async () => {
    const { code, stdout, stderr } = await ask("Say hello, please");
    expect(code, stderr).toBe(0);
    expect(stdout).toContain("Hello from the script.");
    expect(stdout).toMatch(program.usage);
    expect(model.requests).toHaveLength(1);
    expect(model.requests[0]).toMatchObject({ prompt: "Say hello, please", step: 0, turn: 1, abandoned: false });
    expect(model.requests[0]!.tools).toEqual(expect.arrayContaining([program.writes, program.runs]));
    expect(model.problems).toEqual([]);
  });

  test("writes a file and runs a command with its own tools", async () => {
    const { code, stdout, stderr } = await ask("Write a page");
    expect(code, stderr).toBe(0);
    expect(readFileSync(join(folder, "work", "docs", "page.md"), "utf8")).toBe("# A page\n\nwith „ünïcode“ 🎼\n");
    expect(readFileSync(join(folder, "work", "docs", "lines.txt"), "utf8").trim()).toBe("3");
    expect(stdout).toContain("The page is written.");
    expect(model.requests.map(({ step, results }) => [step, results.length])).toEqual([
      [0, 0],
      [1, 1],
      [2, 2],
    ]);
    expect(model.problems).toEqual([]);
  });

  test("reports an error of the model and fails", async () => {
    const { code, stdout } = await ask("Be refused");
    expect(code).not.toBe(0);
    expect(stdout).toContain("scripted refusal of this request");
    expect(model.requests.length).toBeGreaterThan(0);
  });

  test("does not treat an answer as complete if the connection breaks", async () => {
    const { code } = await ask("Break off");
    expect(code).not.toBe(0);
    expect(model.requests.length).toBeGreaterThan(program.repeats ? 1 : 0);
    expect(model.problems).toEqual([]);
  });
});
