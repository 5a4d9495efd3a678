// `resumeSession` sends a message to a session of Claude Code that no process has open: the program resumes the session
// with it, and takes one turn. It cannot ask for permission, so tools that the user has not allowed are denied.
import { spawn } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseRecord, recordOf } from "../json-fields.ts";
import { findProgram } from "../find-program.ts";
import { TuttiError } from "../../schema/error.ts";
import type { World } from "../../world.ts";

const LOOK_MS = 100;
/** A program that still works after `PATIENCE_MS` has accepted the message, although its model has not answered yet. */
const PATIENCE_MS = 25_000;
const FLAGS = "-p --verbose --input-format stream-json --output-format stream-json --replay-user-messages";

interface MessageToClaude {
  session: string;
  cwd: string;
  text: string;
  env: NodeJS.ProcessEnv;
  world: World;
  /** `isNew` means that the message begins the session. */
  isNew?: boolean;
}

/** Resolves when the program has accepted the message. Its turn continues, also without this process. */
export async function resumeSession({ session, cwd, text, env, world, isNew }: MessageToClaude): Promise<void> {
  const program = findProgram("claude", cwd);
  const folder = mkdtempSync(join(tmpdir(), "tutti-resume-"));
  // A file, not a pipe: the program must be able to write when this process is gone.
  const output = join(folder, "output");
  const file = openSync(output, "w", 0o600);
  try {
    const child = spawn(program, [...FLAGS.split(" "), isNew ? "--session-id" : "--resume", session], {
      cwd,
      env,
      detached: true,
      stdio: ["pipe", file, file],
    });
    child.unref();
    let exit: { code: number | null } | null = null;
    child.on("exit", (code) => (exit = { code }));
    child.on("error", () => (exit = { code: null }));
    const stdin = child.stdin!;
    stdin.on("error", () => {});
    const message = { role: "user", content: [{ type: "text", text }] };
    stdin.end(`${JSON.stringify({ type: "user", message, parent_tool_use_id: null })}\n`);
    const since = world.mono();
    while (!isAccepted(output)) {
      if (exit !== null || world.mono() - since > PATIENCE_MS) break;
      await world.sleep(LOOK_MS);
    }
    const ended = exit as { code: number | null } | null;
    if (ended !== null && ended.code !== 0 && !isAccepted(output)) throw refusal(session, output, ended.code);
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true, force: true });
  }
}

const linesOf = (output: string): string[] => readFileSync(output, "utf8").split("\n");

/** The program repeats a message when it has stored it: `isReplay`. */
const isAccepted = (output: string): boolean => linesOf(output).some((line) => parseRecord(line)["isReplay"] === true);

function refusal(session: string, output: string, code: number | null): TuttiError {
  const errors = linesOf(output).flatMap((line) => {
    const found = recordOf(parseRecord(line))["errors"];
    return Array.isArray(found) ? found.map(String) : line.startsWith("{") ? [] : [line];
  });
  const why = errors.join(" ").trim().slice(0, 500) || `it exited with ${code}`;
  return new TuttiError(
    "agent_not_startable",
    `claude could not resume session "${session}": ${why}. Resume it in a terminal to see the reason.`,
  );
}
