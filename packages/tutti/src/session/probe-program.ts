// `probeProgram` finds an external program and its version. It gets no input and few variables, and is killed with its
// process group on a timeout.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { findProgram } from "./find-program.ts";
import { PASSED_ENV, pickEnv } from "./keeper/keeper-launch.ts";
import { signalGroup } from "./process.ts";

export interface ProbeOptions {
  timeoutMs: number;
  env?: Readonly<Record<string, string>>;
}

type ProbeResult = { ok: true; stdout: string } | { ok: false; problem: string };

export interface ProgramFound {
  path: string;
  /** Null if unknown; `problem` then has the reason. */
  version: string | null;
  problem: string | null;
}

const KEPT = 10_000;
const SHOWN = 300;
/** After the exit, the last output may take `LAST_OUTPUT_MS`. A child that inherited the pipe may hold it open. */
const LAST_OUTPUT_MS = 200;

/** Unlike `findProgram`, returns null for a program that is not on the PATH. */
export function locateProgram(name: string): string | null {
  try {
    return findProgram(name, "/");
  } catch {
    return null;
  }
}

/** Null if the program is not on the PATH. */
export async function probeProgram(name: string, options: ProbeOptions): Promise<ProgramFound | null> {
  const path = locateProgram(name);
  if (path === null) return null;
  const result = await runProbe(path, ["--version"], options);
  if (!result.ok) return { path, version: null, problem: result.problem };
  const version = /\d+\.\d+(\.\d+)?(-[\w.]+)?/.exec(result.stdout)?.[0] ?? null;
  return { path, version, problem: version === null ? "its output for --version contains no version" : null };
}

/** Runs a program until it exits or times out. `runProbe` never throws: a failure is part of the result. */
export async function runProbe(path: string, args: readonly string[], options: ProbeOptions): Promise<ProbeResult> {
  const child = spawn(path, args, {
    cwd: "/",
    env: { ...pickEnv(process.env, PASSED_ENV), ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => (output[name] = (output[name] + text).slice(0, KEPT)));
  }
  const closed = once(child, "close").catch(() => {});
  const { promise: ended, resolve: end } = Promise.withResolvers<string | null>();
  const alarm = setTimeout(() => end(`it gave no answer within ${options.timeoutMs / 1000} s`), options.timeoutMs);
  child.on("error", (error) => end(`it cannot be started: ${error.message}`));
  // Not `close`: it waits for all processes that inherited the output.
  child.on("exit", (code, signal) => end(code === 0 ? null : `it ended with ${signal ?? `exit code ${code}`}`));
  const problem = await ended;
  clearTimeout(alarm);
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
    signalGroup(child.pid, "SIGKILL");
  await Promise.race([closed, new Promise((resolve) => void setTimeout(resolve, LAST_OUTPUT_MS).unref())]);
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  if (problem === null) return { ok: true, stdout: output.stdout };
  const line = errorLine(output.stderr) ?? errorLine(output.stdout);
  return { ok: false, problem: line === null ? problem : `${problem}: ${line}` };
}

/** `errorLine` is the first line with the word "error", which in a stack trace is the message; else the first line. */
function errorLine(text: string): string | null {
  const lines = text.split("\n").map((line) => line.trim());
  const line = lines.find((each) => /\berror\b/i.test(each)) ?? lines.find((each) => each !== "");
  return line === undefined ? null : line.slice(0, SHOWN);
}
