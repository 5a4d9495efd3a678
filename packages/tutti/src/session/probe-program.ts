// A look at a program of others: where it is, and what it says when asked for its version. It gets no input, few
// variables, and is ended with its whole process group when it does not answer.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { findProgram } from "./find-program.ts";
import { signalGroup } from "./process.ts";

export interface ProbeOptions {
  timeoutMs: number;
  env?: Readonly<Record<string, string>>;
}

export type ProbeResult = { ok: true; stdout: string } | { ok: false; problem: string };

export interface ProgramFound {
  path: string;
  /** Null when it does not say; then `problem` says why. */
  version: string | null;
  problem: string | null;
}

/** Nothing secret is passed on to a program that is only looked at. */
const PASSED_ENV = ["PATH", "HOME", "LANG", "TZ", "TMPDIR"];
/** What of its output is kept. */
const KEPT = 10_000;
const SHOWN = 300;
/** How long its last words may take after its end; a child of it may hold the other end open for ever. */
const LAST_WORDS_MS = 200;

/** Where a program is on the PATH, or null. */
export function locateProgram(name: string): string | null {
  try {
    return findProgram(name, "/");
  } catch {
    return null;
  }
}

/** The program with its version, or null when there is none of this name. */
export async function probeProgram(name: string, options: ProbeOptions): Promise<ProgramFound | null> {
  const path = locateProgram(name);
  if (path === null) return null;
  const result = await runProbe(path, ["--version"], options);
  if (!result.ok) return { path, version: null, problem: result.problem };
  const version = /\d+\.\d+(\.\d+)?(-[\w.]+)?/.exec(result.stdout)?.[0] ?? null;
  return { path, version, problem: version === null ? "its answer to --version holds no version" : null };
}

/** Runs a program for a moment. Whether it did what it should is the answer; it never fails. */
export async function runProbe(path: string, args: readonly string[], options: ProbeOptions): Promise<ProbeResult> {
  const child = spawn(path, args, {
    cwd: "/",
    env: { ...passedEnv(), ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (text: string) => (said[name] = (said[name] + text).slice(0, KEPT)));
  }
  const closed = once(child, "close").catch(() => {});
  const { promise: ended, resolve: end } = Promise.withResolvers<string | null>();
  const alarm = setTimeout(() => end(`it gave no answer within ${options.timeoutMs / 1000} s`), options.timeoutMs);
  child.on("error", (error) => end(`it cannot be started: ${error.message}`));
  // Not `close`: that waits for everybody who has inherited the output.
  child.on("exit", (code, signal) => end(code === 0 ? null : `it ended with ${signal ?? `exit code ${code}`}`));
  const problem = await ended;
  clearTimeout(alarm);
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined)
    signalGroup(child.pid, "SIGKILL");
  await Promise.race([closed, new Promise((resolve) => void setTimeout(resolve, LAST_WORDS_MS).unref())]);
  for (const stream of [child.stdout, child.stderr]) stream.destroy();
  if (problem === null) return { ok: true, stdout: said.stdout };
  const words = tellingLine(said.stderr) ?? tellingLine(said.stdout);
  return { ok: false, problem: words === null ? problem : `${problem}: ${words}` };
}

/** Of a stack trace, the line that says what was wrong. */
function tellingLine(text: string): string | null {
  const lines = text.split("\n").map((line) => line.trim());
  const line = lines.find((each) => /\berror\b/i.test(each)) ?? lines.find((each) => each !== "");
  return line === undefined ? null : line.slice(0, SHOWN);
}

function passedEnv(): Record<string, string> {
  const given = PASSED_ENV.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(given) as Record<string, string>;
}
