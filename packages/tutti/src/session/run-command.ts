import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { isUnwritable, removeFile, tryToWrite } from "../durable-file.ts";
import { sandboxCommand, type SandboxSpec } from "./sandbox/sandbox-command.ts";
import { lockLimitOf, SET_LOCK_LIMIT } from "./keeper/session-processes.ts";
import { splitCommand } from "./split-command.ts";
import { signalGroup, sweep } from "./process.ts";
import { processTable } from "./process-table.ts";

interface CommandOptions {
  cwd: string;
  env: Record<string, string>;
  stdin: string;
  timeoutMs: number;
}

interface CommandResult {
  ok: boolean;
  /** The reason of a failure, or the end of the output. */
  detail: string;
}

interface ShellOptions extends Omit<CommandOptions, "stdin"> {
  signal: AbortSignal;
  sandbox?: SandboxSpec | undefined;
  /** Has a file for each command that runs, so that `endLeftCommands` finds those of an engine that was killed. */
  markFolder: string;
}

interface ShellResult {
  /** `exitCode` is 124 after a timeout, 127 if the command could not start, and 128 plus its number after a signal. */
  exitCode: number;
  output: string;
}

/** In characters, of the end of the output. */
const KEPT = 2000;
const KEPT_OF_SHELL = 20_000;
/**
 * `sweep` finds the processes that a command started, in any process group, by the variable `MARK`. A shell command may run
 * programs of agents, which can empty their environment, so `sweep` also finds its processes by a limit for file locks.
 */
const MARK = "TUTTI_HOOK";
const MARKED_SHELL = `${SET_LOCK_LIMIT}; exec sh -c "$2"`;
/** After the exit, the last output may take `LAST_OUTPUT_MS`. */
const LAST_OUTPUT_MS = 200;
const SWEEP_MS = 2000;

type End =
  | { type: "unstartable" | "late" | "aborted"; why: string }
  | { type: "exited"; code: number | null; signal: string | null };

/** Uses no shell. On exit or timeout, it kills every process that the command started. */
export async function runCommand(command: string, options: CommandOptions): Promise<CommandResult> {
  const words = splitCommand(command);
  if (words.length === 0) return { ok: false, detail: "the command is empty" };
  const { end, output } = await execute(words, options, KEPT, randomUUID());
  return resultOf(end, output);
}

/**
 * Unlike `runCommand`, `runShell` uses `sh`. On exit, timeout or abort, it kills every process that the command
 * started.
 */
export async function runShell(command: string, options: ShellOptions): Promise<ShellResult> {
  const mark = randomUUID();
  const shell = ["sh", "-c", MARKED_SHELL, "sh", String(lockLimitOf(mark)), command];
  const words = options.sandbox ? sandboxCommand(options.sandbox, options.cwd, shell) : shell;
  const markFile = join(options.markFolder, mark);
  keepMark(options.markFolder, markFile);
  const { end, output } = await execute(words, { ...options, stdin: "" }, KEPT_OF_SHELL, mark);
  tryToWrite(() => removeFile(markFile));
  if (end.type === "exited") {
    const number = end.signal === null ? 0 : (constants.signals[end.signal as NodeJS.Signals] ?? 0);
    return { exitCode: end.code ?? 128 + number, output };
  }
  return { exitCode: end.type === "unstartable" ? 127 : 124, output: [output, end.why].filter(Boolean).join("\n") };
}

/** A killed engine cannot sweep, and a power cut leaves no process. Therefore the file needs no sync. */
function keepMark(folder: string, file: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(file, "", { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (!isUnwritable(error)) throw error;
  }
}

/** Kills what commands of an earlier engine left. No other engine may use `markFolder`. */
export async function endLeftCommands(markFolder: string): Promise<void> {
  for (const mark of readMarks(markFolder)) {
    try {
      await endMarked(mark);
      removeFile(join(markFolder, mark));
    } catch {
      // The next engine finds the mark again.
    }
  }
}

function readMarks(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

async function execute(
  [program = "", ...args]: readonly string[],
  options: CommandOptions & { signal?: AbortSignal },
  kept: number,
  mark: string,
): Promise<{ end: End; output: string }> {
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...options.env, [MARK]: mark },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (output = (output + text).slice(-kept)));
  }
  // A command need not read its stdin.
  child.stdin.on("error", () => {});
  child.stdin.end(options.stdin);
  const closed = new Promise<void>((resolve) => void child.on("close", () => resolve()));
  const end = await endOf(child, options.timeoutMs, options.signal);
  if (end.type !== "exited" && child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
  // A child that left the process group may hold the pipe open.
  await Promise.race([closed, pause(LAST_OUTPUT_MS)]);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  await endMarked(mark);
  return { end, output: output.trim() };
}

async function endMarked(mark: string): Promise<void> {
  const findLeft = (): number[] => processTable().findMarked(MARK, mark, String(lockLimitOf(mark)));
  // The command has ended, so without `hold` the process could exit before its caller continues.
  const hold = setTimeout(() => {}, SWEEP_MS);
  await Promise.race([sweep(findLeft, pause), pause(SWEEP_MS)]);
  clearTimeout(hold);
}

function endOf(child: ChildProcess, timeoutMs: number, signal?: AbortSignal): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>();
  const late = () => resolve({ type: "late", why: `it took longer than ${timeoutMs} ms` });
  const alarm = setTimeout(late, timeoutMs);
  const abort = () => resolve({ type: "aborted", why: "it was ended early" });
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort);
  child.on("error", (error) => resolve({ type: "unstartable", why: error.message }));
  // Not `close`: it waits for all processes that inherited the output.
  child.on("exit", (code, signal) => resolve({ type: "exited", code, signal }));
  return promise.finally(() => {
    clearTimeout(alarm);
    signal?.removeEventListener("abort", abort);
  });
}

function resultOf(end: End, output: string): CommandResult {
  if (end.type !== "exited") return { ok: false, detail: end.why };
  if (end.code === 0) return { ok: true, detail: output };
  return { ok: false, detail: `${end.signal ?? `exit code ${end.code}`}${output === "" ? "" : `: ${output}`}` };
}

/** `unref` keeps the timer from keeping the process alive. */
const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
