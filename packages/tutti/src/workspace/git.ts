// Runs git, and is the only place that does. A repository holds settings that name programs, and an agent may have
// written them, so every command is told where the repository is and which of those settings do not count. Filters and
// merge drivers are left as they are: they belong to the person's project (LFS, line endings), and keeping an agent from
// planting one is the work of the sandbox, which makes the repository's configuration read-only.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { stat } from "node:fs/promises";
import { TuttiError } from "../schema/error.ts";

export interface GitOptions {
  /** Where the process runs; must exist. */
  cwd: string;
  gitDir?: string;
  workTree?: string;
  indexFile?: string;
  input?: Buffer;
  /** Seconds since 1970 for author and committer; the clock's time when left out. */
  date?: number;
  /** Exit codes that are an answer, not a failure. */
  accept?: readonly number[];
  /** How long it may take, if that is not as long as a checkout. */
  timeoutMs?: number;
}

/** The first that can merge on objects alone (`merge-tree --write-tree`). */
export const OLDEST_GIT = "2.38";

export interface GitOutput {
  code: number;
  /** One character per byte, because a path need not be valid UTF-8; see `text` and `bytes`. */
  stdout: string;
  stderr: string;
}

const SETTINGS = [
  // Programs that git would start on its own.
  "core.hooksPath=/dev/null",
  "core.fsmonitor=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "commit.gpgsign=false",
  "submodule.recurse=false",
  // What is read from the file system is compared in full, and an index can be copied as one file.
  "core.trustctime=true",
  "core.checkStat=default",
  "core.splitIndex=false",
  "i18n.commitEncoding=UTF-8",
  // An object or ref has its name only when its content is on the disk, so that a power cut leaves no empty one.
  "core.fsync=loose-object,reference",
  "core.fsyncMethod=fsync",
  // Agents use git at the same time; a lock that is held for a moment is waited for.
  "core.filesRefLockTimeout=5000",
  "core.packedRefsTimeout=10000",
].flatMap((setting) => ["-c", setting]);

/** Long enough for the checkout of a very large repository, short enough that a hanging filter does not block for ever. */
const TIMEOUT_MS = 15 * 60_000;

/** `purpose` completes the sentence "Git could not …". */
export async function git(purpose: string, args: readonly string[], options: GitOptions): Promise<GitOutput> {
  const output = await start(commandLine(args, options), options);
  if ("error" in output) throw await spawnFault(purpose, output.error, options);
  if (output.code === 0 || options.accept?.includes(output.code)) return output;
  throw gitFault(purpose, output.stderr);
}

/** A git that stays and is spoken with. */
export function startGit(args: readonly string[], options: GitOptions): ChildProcessWithoutNullStreams {
  return spawnGit(commandLine(args, options), options);
}

const commandLine = (args: readonly string[], { gitDir, workTree }: GitOptions): string[] => [
  "--no-pager",
  ...SETTINGS,
  ...(gitDir === undefined ? [] : [`--git-dir=${gitDir}`]),
  ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
  ...args,
];

/** What git printed, as text. */
export const text = (raw: string): string => Buffer.from(raw, "latin1").toString("utf8");

/** What git printed, as the bytes that it printed. */
export const bytes = (raw: string): Buffer => Buffer.from(raw, "latin1");

/** The items of an output with `-z`. */
export const items = (raw: string): string[] => raw.split("\0").filter((item) => item !== "");

function start(args: readonly string[], options: GitOptions): Promise<GitOutput | { error: Error }> {
  return new Promise((resolve) => {
    const child = spawnGit(args, options);
    const said = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const)
      child[name].setEncoding("latin1").on("data", (chunk: string) => (said[name] += chunk));
    let isLate = false;
    const limit = setTimeout(() => {
      isLate = true;
      killGroup(child);
    }, options.timeoutMs ?? TIMEOUT_MS);
    child.once("error", (error) => {
      clearTimeout(limit);
      resolve({ error });
    });
    child.once("close", (code, signal) => {
      clearTimeout(limit);
      if (code !== null && !isLate) resolve({ code, ...said });
      else resolve({ error: Object.assign(new Error(`it was ended by ${signal}`), { killed: isLate }) });
    });
    // Git may end without having read its input; its exit code says so better than a broken pipe.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input);
  });
}

/**
 * Starts git in a session of its own. A Ctrl-C on the terminal reaches every process of the terminal's group, and would
 * end a git in the middle of a merge before the engine can stop in order.
 */
function spawnGit(args: readonly string[], options: GitOptions): ChildProcessWithoutNullStreams {
  const { cwd } = options;
  return spawn("git", args, { cwd, env: environment(options), windowsHide: true, detached: true });
}

/** Ends git with the programs that it has started, such as a filter that hangs. */
function killGroup({ pid }: ChildProcessWithoutNullStreams): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has just ended.
  }
}

/** The person's environment without what would redirect git, and with what makes its answers the same everywhere. */
function environment(options: GitOptions): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.toUpperCase().startsWith("GIT_"));
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    // A replacement ref would make one commit look like another, and an agent can write refs.
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_AUTHOR_NAME: "Tutti",
    GIT_AUTHOR_EMAIL: "tutti@localhost",
    GIT_COMMITTER_NAME: "Tutti",
    GIT_COMMITTER_EMAIL: "tutti@localhost",
    ...(options.indexFile === undefined ? {} : { GIT_INDEX_FILE: options.indexFile }),
    ...(options.date === undefined
      ? {}
      : { GIT_AUTHOR_DATE: `@${options.date} +0000`, GIT_COMMITTER_DATE: `@${options.date} +0000` }),
  };
}

export async function spawnFault(purpose: string, error: Error, { cwd, timeoutMs }: GitOptions): Promise<TuttiError> {
  if ("killed" in error && error.killed === true) {
    const message = `Git could not ${purpose}: it did not end within ${(timeoutMs ?? TIMEOUT_MS) / 1000} seconds.`;
    return new TuttiError("git_failed", message, { cause: error });
  }
  // Node reports a missing program and a missing working folder alike.
  const missing = "code" in error && error.code === "ENOENT";
  if (missing && (await stat(cwd).catch(() => null)) === null) {
    return new TuttiError("git_failed", `Git could not ${purpose}: the folder ${cwd} is gone.`, { cause: error });
  }
  if (missing) {
    return new TuttiError("git_missing", `Git was not found; install git ${OLDEST_GIT} or newer.`, { cause: error });
  }
  return new TuttiError("git_failed", `Git could not ${purpose}: ${error.message}`, { cause: error });
}

export function gitFault(purpose: string, stderr: string): TuttiError {
  const tail = text(stderr).trim().slice(-2000);
  const full = /No space left on device|Disk quota exceeded/i.test(tail);
  return new TuttiError(full ? "disk_full" : "git_failed", `Git could not ${purpose}: ${tail || "it gave no reason"}`);
}
