// A laboratory for whole runs: a temporary repository and data folder, the command line as a real process, and a check
// for leftovers.
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Outcome } from "../../src/schema/outcome.ts";
import type { StoredEvent } from "../../src/schema/event.ts";
import { openSqliteReader } from "../../src/store/sqlite.ts";
import { programOf } from "./program-of.ts";
import { sharedSample } from "./shared-sample.ts";

export const LAUNCHER = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));
/** Names an agent of the tests as `command:` or `text:` would. */
export const agentOf = (kind: "command" | "text", name: string, ...args: string[]): string =>
  [`${kind}:${process.execPath}`, programOf(name), ...args].join(" ");

export interface Finished {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

/** A frame of `--json`, an outcome as its last line, or an error. */
export type JsonLine = Partial<StoredEvent> & Partial<Outcome> & { error?: { code: string; message: string } };

export class Lab {
  readonly folder = mkdtempSync(join(tmpdir(), "tutti-lab-"));
  readonly repo = join(this.folder, "repo");
  readonly data = join(this.folder, "data");

  constructor(files?: Record<string, string>) {
    if (files) commitFirst(this.repo, files);
    else cpSync(sampleRepository(), this.repo, { recursive: true, preserveTimestamps: true });
  }

  write(name: string, text: string): string {
    const file = join(this.repo, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  git(...args: string[]): string {
    return git(this.repo, ...args);
  }

  scenario(sessions: object[], name = "scenario.json"): string {
    const file = join(this.folder, name);
    writeFileSync(file, JSON.stringify({ sessions }));
    return `script:${file}`;
  }

  /** Returns a file for `waitForFile` of a scenario, and a function that creates it. */
  gate(name = "gate"): { file: string; open: () => void } {
    const file = join(this.folder, name);
    return { file, open: () => writeFileSync(file, "") };
  }

  /** `via` is a command that starts the rest of its command line, such as `ip netns exec`. */
  start(args: string[], env: Record<string, string> = {}, via: readonly string[] = []): ChildProcess {
    const [program, ...rest] = [...via, process.execPath, LAUNCHER, "--data-dir", this.data, ...args];
    return spawn(program!, rest, {
      cwd: this.folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  async tutti(args: string[], env?: Record<string, string>): Promise<Finished> {
    return finished(this.start(args, env));
  }

  /** Runs `tutti --json …` and parses its lines. */
  async json(args: string[], env?: Record<string, string>): Promise<Finished & { lines: JsonLine[]; last: JsonLine }> {
    const result = await this.tutti(["--json", ...args], env);
    const lines = result.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as JsonLine);
    return { ...result, lines, last: lines.at(-1)! };
  }

  events(): StoredEvent[] {
    const reader = openSqliteReader(join(this.data, "tutti.db"));
    try {
      return reader.read({});
    } finally {
      reader.close();
    }
  }

  /** Captures everything in `repo` that a run must not touch. */
  fingerprint(): string {
    // The first `git status` in a copied repository updates its index.
    const status = this.git("status", "--porcelain=v2", "--branch", "--untracked-files=all");
    const files = this.git("ls-files", "-s", "--debug");
    const index = readFileSync(join(this.repo, ".git", "index")).toString("base64");
    return [
      files,
      status,
      index,
      this.git("symbolic-ref", "HEAD"),
      this.git("rev-parse", "HEAD"),
      ...listFiles(this.repo),
    ].join("\n");
  }

  /** Lists processes, worktrees, locks and temporary files that a finished run has left. */
  leftovers(): string[] {
    const worktrees = this.git("worktree", "list", "--porcelain")
      .split("\n")
      .filter((line) => line.startsWith("worktree "));
    const agentBranches = this.git("for-each-ref", "--format=%(refname)", "refs/heads/agent");
    const files = existsSync(this.data) ? filesBelow(this.data).map((file) => relative(this.data, file)) : [];
    return [
      ...processesOf(this.folder).map((line) => `process ${line}`),
      ...worktrees.slice(1),
      ...(agentBranches === "" ? [] : [agentBranches]),
      ...files.filter((file) => file.endsWith("keeper.json") || file.endsWith(".new") || /^worktrees\/./.test(file)),
      ...readdirSync(join(this.repo, ".git")).filter((file) => file.endsWith(".lock")),
    ];
  }

  tearDown(): void {
    killListed(processesOf(this.folder));
    rmSync(this.folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  }
}

const sampleRepository = (): string =>
  sharedSample("sample", (folder) => commitFirst(folder, { "README.md": "# A project\n" }));

function commitFirst(repo: string, files: Record<string, string>): void {
  mkdirSync(repo, { recursive: true });
  git(repo, "init", "-q", "-b", "trunk");
  git(repo, "config", "user.name", "A Person");
  git(repo, "config", "user.email", "person@example.org");
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(repo, name)), { recursive: true });
    writeFileSync(join(repo, name), text);
  }
  git(repo, "add", "-A");
  git(repo, "commit", "-q", "-m", "first");
}

function git(folder: string, ...args: string[]): string {
  const result = spawnSync("git", ["-C", folder, ...args], { encoding: "utf8" });
  if (result.status !== 0) throw new Error(`git ${args.join(" ")}: ${result.stderr}`);
  return result.stdout.trim();
}

/** Follows no links: `readdirSync` with `recursive` does, and a mailbox links to itself. */
const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return [path, ...(entry.isDirectory() ? filesBelow(path) : [])];
  });

export async function finished(child: ChildProcess): Promise<Finished> {
  let stdout = "";
  let stderr = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  return new Promise((resolve) => child.on("close", (code, signal) => resolve({ code, signal, stdout, stderr })));
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => !name.startsWith(".git"))
    .toSorted();
}

/** Accepts a process that has exited since it was listed. */
export function killProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Kills processes as `processesOf` lists them. */
export const killListed = (lines: readonly string[]): void => {
  for (const line of lines) killProcess(Number.parseInt(line, 10));
};

/** Never includes this process. */
export function processesOf(folder: string): string[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((pid) => {
      try {
        const [, state = "", parent] =
          /^\d+ \(.*\) (\S) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
        if ("ZX".includes(state)) return [];
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
        // An engine in this process keeps these for its next requests, and ends them when it is closed.
        const isDialogue = /^git .* (?:cat-file --batch-command|(?:diff-tree|update-ref) .*--stdin)/.test(command);
        if (isDialogue && Number(parent) === process.pid) return [];
        const environment = readFileSync(`/proc/${pid}/environ`, "utf8");
        return command.includes(folder) || environment.includes(folder) ? [`${pid} ${command}`] : [];
      } catch {
        return [];
      }
    });
}

export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "latin1");
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
      children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
    } catch {
      // The process ended during the scan.
    }
  }
  const tree = [root];
  for (let i = 0; i < tree.length; i++) tree.push(...(children.get(tree[i]!) ?? []));
  return tree;
}
