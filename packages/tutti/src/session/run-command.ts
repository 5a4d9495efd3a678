import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { splitCommand } from "./split-command.ts";
import { findMarked, signalGroup, sweep } from "./process.ts";

export interface CommandOptions {
  cwd: string;
  env: Record<string, string>;
  stdin: string;
  timeoutMs: number;
}

export interface CommandResult {
  ok: boolean;
  /** The reason of a failure, or the end of the output. */
  detail: string;
}

/** Characters kept of the output. */
const KEPT = 2000;
/** The variable by which `sweep` finds processes that the command started, in any process group. */
const MARK = "TUTTI_HOOK";
/** The wait for the last output after the exit. */
const LAST_OUTPUT_MS = 200;
const SWEEP_MS = 2000;

type End =
  | { type: "unstartable" | "late"; why: string }
  | { type: "exited"; code: number | null; signal: string | null };

/** Runs the command without a shell. On exit or timeout, kills every process that the command started. */
export async function runCommand(command: string, options: CommandOptions): Promise<CommandResult> {
  const [program, ...args] = splitCommand(command);
  if (program === undefined) return { ok: false, detail: "the command is empty" };
  const mark = randomUUID();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...options.env, [MARK]: mark },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-KEPT)));
  }
  // A command need not read its stdin.
  child.stdin.on("error", () => {});
  child.stdin.end(options.stdin);
  const closed = new Promise<void>((resolve) => void child.on("close", () => resolve()));
  const end = await endOf(child, options.timeoutMs);
  if (end.type === "late" && child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
  // A child that left the process group may hold the pipe open.
  await Promise.race([closed, pause(LAST_OUTPUT_MS)]);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  await Promise.race([sweep(() => findMarked(MARK, mark), pause), pause(SWEEP_MS)]);
  return resultOf(end, output.trim());
}

function endOf(child: ChildProcess, timeoutMs: number): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>();
  const late = () => resolve({ type: "late", why: `it took longer than ${timeoutMs} ms` });
  const alarm = setTimeout(late, timeoutMs);
  child.on("error", (error) => resolve({ type: "unstartable", why: error.message }));
  // Not `close`: it waits for all processes that inherited the output.
  child.on("exit", (code, signal) => resolve({ type: "exited", code, signal }));
  return promise.finally(() => clearTimeout(alarm));
}

function resultOf(end: End, output: string): CommandResult {
  if (end.type !== "exited") return { ok: false, detail: end.why };
  if (end.code === 0) return { ok: true, detail: output };
  return { ok: false, detail: `${end.signal ?? `exit code ${end.code}`}${output === "" ? "" : `: ${output}`}` };
}

/** Unreferenced, so that the timer does not keep the process alive. */
const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
