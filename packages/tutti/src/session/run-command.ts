// A command of the user's own, run to its end: text in, text out, and never longer than it may.
import { spawn } from "node:child_process";
import { splitCommand } from "./split-command.ts";
import { signalGroup } from "./process.ts";

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

/** Runs without a shell. The whole group of processes is ended when the time is over. */
export function runCommand(command: string, options: CommandOptions): Promise<CommandResult> {
  const [program, ...args] = splitCommand(command);
  if (program === undefined) return Promise.resolve({ ok: false, detail: "there is no command" });
  const { promise, resolve } = Promise.withResolvers<CommandResult>();
  const child = spawn(program, args, {
    cwd: options.cwd,
    env: options.env,
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
  let late = false;
  const alarm = setTimeout(() => {
    late = true;
    if (child.pid !== undefined) signalGroup(child.pid, "SIGKILL");
  }, options.timeoutMs);
  const end = (result: CommandResult) => {
    clearTimeout(alarm);
    resolve(result);
  };
  child.on("error", (error) => end({ ok: false, detail: error.message }));
  child.on("close", (code, signal) => {
    const words = said.trim();
    if (late) return end({ ok: false, detail: `it took longer than ${options.timeoutMs} ms` });
    if (code === 0) return end({ ok: true, detail: words });
    end({ ok: false, detail: `${signal ?? `exit code ${code}`}${words === "" ? "" : `: ${words}`}` });
  });
  return promise;
}
