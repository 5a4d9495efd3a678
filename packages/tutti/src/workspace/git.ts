// Runs git; no other file does. An agent may have written the repository's configuration, and that can name programs to
// start. Therefore every command passes the repository's folders explicitly, overrides those settings and may not use the
// network. Filters and merge drivers stay active because the user's project needs them (LFS, line endings);
// guard/pinned-settings.ts keeps agents from adding one.
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { stat } from "node:fs/promises";
import { environmentFault, findCondition, findErrno } from "../environment-fault.ts";
import { TuttiError } from "../schema/error.ts";

/** A `GitSetting` wins over all configuration files. */
export type GitSetting = readonly [name: string, value: string];

export interface GitOptions {
  cwd: string;
  gitDir?: string;
  workTree?: string;
  indexFile?: string;
  input?: Buffer;
  /** Author and committer date in seconds since 1970. Without `date`, git uses the current time. */
  date?: number;
  /** Exit codes besides 0 with which `git` resolves. */
  accept?: readonly number[];
  /** Default: `TIMEOUT_MS`. */
  timeoutMs?: number;
  /** The most bytes of stdout. Default: `MAX_STDOUT`. */
  maxStdout?: number;
  /** The folder of objects to read and write instead of that in `gitDir`. */
  objectFolder?: string;
  /** Lets git contact a remote, with the programs and credentials of the user. Only for a `gitDir` of Tutti's own. */
  network?: boolean;
  /** Lets git commit with the identity of the user instead of Tutti's. Git fails if the user has configured none. */
  asUser?: boolean;
  /** Called directly before git starts. */
  settings?: (() => Promise<readonly GitSetting[]>) | undefined;
}

/** `OLDEST_GIT` is the first version with `merge-tree --write-tree`, which merges without a checkout. */
export const OLDEST_GIT = "2.38";

export interface GitOutput {
  code: number;
  /** One character per byte, because a path need not be valid UTF-8. Convert with `text` or `bytes`. */
  stdout: string;
  stderr: string;
}

/** Settings of the user that a command with `network` needs. */
const OF_NETWORK = /^(?:core\.sshCommand|core\.askPass|core\.gitProxy|credential\.helper)=/;

/** Events of the commands that Tutti uses. From 2.54 on git also has hooks in settings, which `hooksPath` leaves active. */
const HOOK_EVENTS = [
  "reference-transaction",
  "post-index-change",
  "post-checkout",
  "pre-merge-commit",
  "post-merge",
  "pre-auto-gc",
  "pre-push",
];

const SETTINGS = [
  // Disable programs that git would start by itself.
  "core.hooksPath=/dev/null",
  ...HOOK_EVENTS.map((event) => `hook.${event}.enabled=false`),
  "core.fsmonitor=false",
  "gc.auto=0",
  "maintenance.auto=false",
  "commit.gpgsign=false",
  "submodule.recurse=false",
  "core.sshCommand=false",
  "core.askPass=false",
  "core.editor=false",
  "core.gitProxy=",
  "credential.helper=",
  "gpg.program=false",
  "gpg.ssh.program=false",
  "gpg.x509.program=false",
  "log.showSignature=false",
  // Compare files by all their metadata, and keep the index in a single file, which `copyIndex` can copy.
  "core.trustctime=true",
  "core.checkStat=default",
  "core.splitIndex=false",
  "i18n.commitEncoding=UTF-8",
  // Sync an object or ref before it gets its name, so that a power cut leaves no empty file.
  "core.fsync=loose-object,reference",
  "core.fsyncMethod=fsync",
  // Agents run git at the same time, so wait for their short locks.
  "core.filesRefLockTimeout=5000",
  "core.packedRefsTimeout=10000",
];
const asArguments = (settings: readonly string[]): string[] => settings.flatMap((setting) => ["-c", setting]);
const LOCAL_ARGUMENTS = asArguments(SETTINGS);
const NETWORK_ARGUMENTS = asArguments(SETTINGS.filter((setting) => !OF_NETWORK.test(setting)));

/** `TIMEOUT_MS` is long enough to check out a very large repository, short enough to stop a filter that hangs. */
const TIMEOUT_MS = 15 * 60_000;

/** In bytes. More than the list of all files of a very large repository. A longer text would not fit in memory. */
const MAX_STDOUT = 256 * 1024 * 1024;
/** Programs of the repository write to stderr, too. `MAX_STDERR` bytes are kept: the first error is the reason. */
export const MAX_STDERR = 1024 * 1024;
/** In characters. `MAX_QUOTED` limits the part of stderr in a sentence for the user. */
const MAX_QUOTED = 2000;

/** `purpose` completes the sentence "Git could not …". */
export async function git(purpose: string, args: readonly string[], options: GitOptions): Promise<GitOutput> {
  const output = await start(commandLine(args, options), options, (await options.settings?.()) ?? []);
  if ("error" in output) throw await spawnFault(purpose, output.error, options);
  if (output.code === 0 || options.accept?.includes(output.code)) return output;
  throw gitFault(purpose, output.stderr, options);
}

/**
 * Starts git for a dialogue over stdin and stdout. It must not read files of a checkout: `options.settings` are
 * ignored.
 */
export function startGit(args: readonly string[], options: GitOptions): ChildProcessWithoutNullStreams {
  return spawnGit(commandLine(args, options), options, []);
}

const commandLine = (args: readonly string[], { gitDir, workTree, network = false }: GitOptions): string[] => [
  "--no-pager",
  ...(network ? NETWORK_ARGUMENTS : LOCAL_ARGUMENTS),
  ...(gitDir === undefined ? [] : [`--git-dir=${gitDir}`]),
  ...(workTree === undefined ? [] : [`--work-tree=${workTree}`]),
  ...args,
];

/** Decodes `GitOutput.stdout` as UTF-8. */
export const text = (raw: string): string => Buffer.from(raw, "latin1").toString("utf8");

/** Undoes the latin1 decoding of `GitOutput.stdout`. */
export const bytes = (raw: string): Buffer => Buffer.from(raw, "latin1");

export const items = (raw: string): string[] => raw.split("\0").filter((item) => item !== "");

function start(
  args: readonly string[],
  options: GitOptions,
  settings: readonly GitSetting[],
): Promise<GitOutput | { error: Error }> {
  return new Promise((resolve) => {
    const child = spawnGit(args, options, settings);
    const output = { stdout: "", stderr: "" };
    const { maxStdout = MAX_STDOUT } = options;
    let isTooMuch = false;
    child.stdout.setEncoding("latin1").on("data", (chunk: string) => {
      if (isTooMuch) return;
      isTooMuch = output.stdout.length + chunk.length > maxStdout;
      if (isTooMuch) killGroup(child);
      else output.stdout += chunk;
    });
    child.stderr.setEncoding("latin1").on("data", (chunk: string) => {
      output.stderr += chunk.slice(0, MAX_STDERR - output.stderr.length);
    });
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
      if (code !== null && !isLate) resolve({ code, ...output });
      else if (isTooMuch) resolve({ error: new Error(`it printed more than ${maxStdout} bytes`) });
      else resolve({ error: Object.assign(new Error(`signal ${signal} ended it`), { killed: isLate }) });
    });
    // Git may exit before it has read `options.input`. Its exit code explains that better than the EPIPE error.
    child.stdin.on("error", () => undefined);
    child.stdin.end(options.input);
  });
}

/**
 * `detached` gives git its own session. Ctrl-C signals the terminal's whole process group and would otherwise kill git
 * in the middle of a merge, before the engine can stop it in order.
 */
function spawnGit(
  args: readonly string[],
  options: GitOptions,
  settings: readonly GitSetting[],
): ChildProcessWithoutNullStreams {
  const { cwd } = options;
  return spawn("git", args, { cwd, env: environment(options, settings), windowsHide: true, detached: true });
}

/** The group includes children of git, for example a filter that hangs. */
function killGroup({ pid }: ChildProcessWithoutNullStreams): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {}
}

const TUTTI = {
  GIT_AUTHOR_NAME: "Tutti",
  GIT_AUTHOR_EMAIL: "tutti@localhost",
  GIT_COMMITTER_NAME: "Tutti",
  GIT_COMMITTER_EMAIL: "tutti@localhost",
};

/** Drops inherited GIT_ variables, which could redirect git. `environment` also fixes the locale and the author. */
function environment(options: GitOptions, settings: readonly GitSetting[]): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !name.toUpperCase().startsWith("GIT_") || (options.asUser && Object.hasOwn(TUTTI, name)),
  );
  return {
    ...Object.fromEntries(inherited),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    // An agent can write replacement refs, which make one commit look like another.
    GIT_NO_REPLACE_OBJECTS: "1",
    // Grafts do the same to the parents of a commit. Git would warn about a file that exists.
    GIT_GRAFT_FILE: "/dev/null/none",
    // For a missing object git would contact a remote, with programs that the repository names.
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: options.network ? "file:git:http:https:ssh" : "none",
    ...(options.objectFolder === undefined ? {} : { GIT_OBJECT_DIRECTORY: options.objectFolder }),
    // Git would make up a name from the account and the machine for a user who has none.
    ...configured(options.asUser ? [...settings, ["user.useConfigOnly", "true"]] : settings),
    ...(options.asUser ? {} : TUTTI),
    ...(options.indexFile === undefined ? {} : { GIT_INDEX_FILE: options.indexFile }),
    ...(options.date === undefined
      ? {}
      : { GIT_AUTHOR_DATE: `@${options.date} +0000`, GIT_COMMITTER_DATE: `@${options.date} +0000` }),
  };
}

/** `settings` become variables, because an argument `-c` cannot name a setting that contains an equals sign. */
const configured = (settings: readonly GitSetting[]): NodeJS.ProcessEnv =>
  Object.fromEntries([
    ["GIT_CONFIG_COUNT", `${settings.length}`],
    ...settings.flatMap(([name, value], i) => [
      [`GIT_CONFIG_KEY_${i}`, name],
      [`GIT_CONFIG_VALUE_${i}`, value],
    ]),
  ]);

export async function spawnFault(purpose: string, error: Error, { cwd, timeoutMs }: GitOptions): Promise<TuttiError> {
  if ("killed" in error && error.killed === true) {
    const message = `Git could not ${purpose}: it did not finish within ${(timeoutMs ?? TIMEOUT_MS) / 1000} seconds. Try again, or check the disk and the repository with "git fsck".`;
    return new TuttiError("git_failed", message, { cause: error });
  }
  const errno = findErrno(error);
  if (errno) return environmentFault(`Git could not ${purpose}`, errno, cwd, { cause: error });
  // Node reports `ENOENT` both for a missing program and for a missing working folder.
  const missing = "code" in error && error.code === "ENOENT";
  if (missing && (await stat(cwd).catch(() => null)) === null) {
    return new TuttiError(
      "git_failed",
      `Git could not ${purpose}: the folder "${cwd}" no longer exists. Restore it, or choose another folder.`,
      {
        cause: error,
      },
    );
  }
  if (missing) {
    return new TuttiError("git_missing", `Git was not found. Install git ${OLDEST_GIT} or newer.`, { cause: error });
  }
  return new TuttiError("git_failed", `Git could not ${purpose}: ${error.message}. Try again.`, { cause: error });
}

/** `details.output` has everything that git said, and the sentence the beginning of it. */
export function gitFault(purpose: string, stderr: string, { cwd, gitDir = cwd }: GitPlace): TuttiError {
  const output = text(stderr).trim();
  const problem = `Git could not ${purpose}`;
  const condition = findCondition(output, [cwd, gitDir]);
  if (condition) return environmentFault(problem, condition.errno, condition.folder, { output });
  // `isMissing` is about the objects of a partial clone.
  const isMissing = /promisor remote|lazy fetching disabled/.test(output);
  const advice = isMissing
    ? 'Fetch the missing objects first, with "git fetch --refetch --no-filter".'
    : "Correct this, then try again.";
  const quoted = output.length > MAX_QUOTED ? `${output.slice(0, MAX_QUOTED)}…` : output;
  return new TuttiError("git_failed", `${problem}: ${quoted || "it gave no reason"}. ${advice}`, {
    details: { output },
  });
}

type GitPlace = Pick<GitOptions, "cwd" | "gitDir">;
