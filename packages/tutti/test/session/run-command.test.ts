import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { findMarked } from "../../src/session/process.ts";
import { runCommand, runShell } from "../../src/session/run-command.ts";

async function run(command: string, timeoutMs: number) {
  const mark = randomUUID();
  const env = { PATH: process.env["PATH"]!, TUTTI_TEST: mark };
  const result = await runCommand(command, { cwd: tmpdir(), env, stdin: "", timeoutMs });
  return { result, left: findMarked("TUTTI_TEST", mark) };
}

describe("`runCommand`", () => {
  it("returns when the command exits, even if a child in another group keeps its output open", async () => {
    const { result, left } = await run("sh -c 'setsid sleep 100000 & echo said'", 3_600_000);
    expect(result).toEqual({ ok: true, detail: "said" });
    expect(left).toEqual([]);
  });

  it("kills a command that times out with all its children, in any process group", async () => {
    const { result, left } = await run("sh -c 'setsid sleep 100000 & sleep 100000'", 300);
    expect(result).toEqual({ ok: false, detail: "it took longer than 300 ms" });
    expect(left).toEqual([]);
  });

  it("returns also in a process that nothing else keeps alive", async () => {
    const file = JSON.stringify(join(import.meta.dirname, "../../src/session/run-command.ts"));
    const script = `
      import { runCommand } from ${file};
      const options = { cwd: "/", env: process.env, stdin: "", timeoutMs: 60000 };
      void runCommand("true", options).then(({ ok }) => console.log(ok));`;
    const args = ["--input-type=module", "--eval", script];
    expect(await promisify(execFile)(process.execPath, args)).toMatchObject({ stdout: "true\n" });
  });

  it("returns all of the last output", async () => {
    const { result } = await run("sh -c 'echo one; echo two >&2; exit 3'", 30_000);
    expect(result.ok).toBe(false);
    expect(result.detail).toMatch(/^exit code 3: (one\ntwo|two\none)$/);
  });
});

describe("`runShell`", () => {
  const env = { PATH: process.env["PATH"]! };
  const runs = (command: string, timeoutMs: number) => {
    const markFolder = mkdtempSync(join(tmpdir(), "tutti-marks-"));
    onTestFinished(() => rmSync(markFolder, { recursive: true }));
    return runShell(command, { cwd: tmpdir(), env, timeoutMs, markFolder, signal: new AbortController().signal });
  };

  // As a test of a project may do it, whose code agents have written.
  it.each([30_000, 500])(
    "kills what the command left with an empty environment, after %i ms at most",
    async (limit) => {
      const waits = limit === 500 ? "sleep 100000" : "true";
      const { output } = await runs(`env -i setsid sleep 100000 </dev/null >/dev/null 2>&1 & echo $!; ${waits}`, limit);
      expect(existsSync(`/proc/${Number.parseInt(output, 10)}/exe`)).toBe(false);
    },
  );

  it("returns the exit code and the output of the command, whatever it quotes", async () => {
    expect(await runs(`echo "a  'b' \\$2" '$2 "c"'; exit 7`, 30_000)).toEqual({
      exitCode: 7,
      output: `a  'b' $2 $2 "c"`,
    });
    expect((await runs("kill -TERM $$", 30_000)).exitCode).toBe(143);
  });
});
