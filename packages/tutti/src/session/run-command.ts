// A command of the user's own, run to its end: text in, text out, and never longer than it may.
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { splitCommand } from "./split-command.ts";
import { signalGroup, sweep } from "./process.ts";

export interface CommandOptions {
  cwd: string;
  env: Record<string, string>;
  stdin: string;
  timeoutMs: number;
}

export interface CommandResult {
  ok: boolean;
  /** Why it failed, or what it said last. */
  detail: string;
}

/** What of its output is kept. */
const KEPT = 2000;
/** What carries this was started by the command, whichever group of processes it is in now. */
const MARK = "TUTTI_HOOK";
/** How long its last words may take after its end, and how long it may take to end what it left behind. */
const LAST_WORDS_MS = 200;
const SWEEP_MS = 2000;

type End =
  | { type: "unstartable" | "late"; why: string }
  | { type: "exited"; code: number | null; signal: string | null };

/** Runs without a shell. When the command has ended, or its time is over, everything that it started is ended too. */
export async function runCommand(command: string, options: CommandOptions): Promise<CommandResult> {
  const [program, ...args] = splitCommand(command);
  if (program === undefined) return { ok: false, detail: "there is no command" };
  const mark = randomUUID();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: { ...options.env, [MARK]: mark },
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(-KEPT)));
  }
  // Who does not read what it is told ends early; that is its own affair.
  child.stdin.on("error", () => {});
  child.stdin.end(options.stdin);
  const closed = new Promise<void>((resolve) => void child.on("close", () => resolve()));
  const end = await endOf(child, options.timeoutMs);
  if (end.type === "late" && child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
  // A child that left the group may hold the other end open for ever.
  await Promise.race([closed, pause(LAST_WORDS_MS)]);
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  await Promise.race([sweep(MARK, mark, pause), pause(SWEEP_MS)]);
  return resultOf(end, said.trim());
}

function endOf(child: ChildProcess, timeoutMs: number): Promise<End> {
  const { promise, resolve } = Promise.withResolvers<End>();
  const late = () => resolve({ type: "late", why: `it took longer than ${timeoutMs} ms` });
  const alarm = setTimeout(late, timeoutMs);
  child.on("error", (error) => resolve({ type: "unstartable", why: error.message }));
  // Not `close`: that waits for everybody who has inherited the output.
  child.on("exit", (code, signal) => resolve({ type: "exited", code, signal }));
  return promise.finally(() => clearTimeout(alarm));
}

function resultOf(end: End, words: string): CommandResult {
  if (end.type !== "exited") return { ok: false, detail: end.why };
  if (end.code === 0) return { ok: true, detail: words };
  return { ok: false, detail: `${end.signal ?? `exit code ${end.code}`}${words === "" ? "" : `: ${words}`}` };
}

/** Keeps no process alive that has nothing else to do. */
const pause = (ms: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, ms).unref());
