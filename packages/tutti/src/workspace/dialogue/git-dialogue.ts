// `GitDialogue` is a git process that serves many requests over stdin and stdout, because a run makes dozens of them
// and a process costs more than a request. It ends after `IDLE_MS` without a request.
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import type { Socket } from "node:net";
import { gitFault, MAX_STDERR, spawnFault, startGit, type GitOptions } from "../git.ts";

export type DialogueOptions = GitOptions & { gitDir: string };

interface DialogueRequest<T> {
  /** `purpose` completes the sentence "Git could not …". */
  purpose: string;
  input: string;
  /** Parses one answer at the beginning of `output`. Returns null if the answer is not complete yet. */
  read: (output: string) => { value: T; length: number } | null;
}

interface PendingRequest extends DialogueRequest<unknown> {
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** Most turns of an agent are shorter than `IDLE_MS`, so a run keeps its processes. */
const IDLE_MS = 60_000;
/** `REQUEST_TIMEOUT_MS` is far longer than any request takes. */
const REQUEST_TIMEOUT_MS = 60_000;

/** The keys of `dialogues` are the git folder, then the command. */
const dialogues = new Map<string, GitDialogue>();

/** Sends `request` to the process of `args` in this repository, which is started if there is none. */
export function ask<T>(args: readonly string[], request: DialogueRequest<T>, options: DialogueOptions): Promise<T> {
  const key = [options.gitDir, ...args].join("\0");
  let dialogue = dialogues.get(key);
  if (!dialogue?.isOpen) {
    dialogue = new GitDialogue(key, args, options);
    dialogues.set(key, dialogue);
  }
  return dialogue.send(request);
}

/** Resolves when no dialogue of `gitDirs` has a process left. Without `gitDirs`, all dialogues end. */
export async function endDialogues(gitDirs?: readonly string[]): Promise<void> {
  const ended = [...dialogues].filter(([key]) => !gitDirs || gitDirs.some((folder) => key.startsWith(`${folder}\0`)));
  await Promise.all(ended.map(([, dialogue]) => dialogue.end()));
}

class GitDialogue {
  readonly #key: string;
  readonly #options: DialogueOptions;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #closed = Promise.withResolvers<void>();
  readonly #idle: NodeJS.Timeout;
  readonly #timeout: NodeJS.Timeout;
  #pending: PendingRequest[] = [];
  #output = "";
  #stderr = "";
  isOpen = true;

  constructor(key: string, args: readonly string[], options: DialogueOptions) {
    this.#key = key;
    this.#options = options;
    this.#process = startGit(args, options);
    this.#idle = setTimeout(() => this.#endIfUnused(), IDLE_MS);
    this.#timeout = setTimeout(() => this.#process.kill("SIGKILL"), REQUEST_TIMEOUT_MS);
    const { stdin, stdout, stderr } = this.#process;
    // `#fail` reports the reason when the process closes.
    stdin.on("error", () => {});
    stdout.setEncoding("latin1").on("data", (chunk: string) => this.#onOutput(chunk));
    stderr
      .setEncoding("latin1")
      .on("data", (chunk: string) => (this.#stderr += chunk.slice(0, MAX_STDERR - this.#stderr.length)));
    this.#process.on("error", (error) => void this.#fail(error));
    this.#process.on("close", () => void this.#fail(null));
  }

  /** Unless `isNeeded`, the process does not keep Node from exiting: it then ends at the end of its input. */
  #keepAlive(isNeeded: boolean): void {
    const { stdin, stdout, stderr } = this.#process;
    for (const each of [this.#process, this.#idle, this.#timeout, ...([stdin, stdout, stderr] as unknown as Socket[])])
      if (isNeeded) each.ref();
      else each.unref();
  }

  send<T>(request: DialogueRequest<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#pending.push({ ...request, resolve: (value) => resolve(value as T), reject });
    this.#idle.refresh();
    this.#timeout.refresh();
    this.#keepAlive(true);
    this.#process.stdin.write(request.input, "latin1");
    return promise;
  }

  /** `#pending` requests are still served. */
  async end(): Promise<void> {
    this.isOpen = false;
    this.#keepAlive(true);
    this.#process.stdin.end();
    await this.#closed.promise;
  }

  #endIfUnused(): void {
    if (this.#pending.length > 0) this.#idle.refresh();
    else void this.end();
  }

  /** Git answers the requests in the order of `#pending`. */
  #onOutput(chunk: string): void {
    this.#output += chunk;
    for (let [request] = this.#pending; request; [request] = this.#pending) {
      const answer = request.read(this.#output);
      if (answer === null) return;
      this.#output = this.#output.slice(answer.length);
      this.#pending.shift();
      request.resolve(answer.value);
    }
    this.#keepAlive(false);
  }

  async #fail(error: Error | null): Promise<void> {
    this.isOpen = false;
    clearTimeout(this.#idle);
    clearTimeout(this.#timeout);
    if (dialogues.get(this.#key) === this) dialogues.delete(this.#key);
    const pending = this.#pending;
    this.#pending = [];
    this.#closed.resolve();
    for (const { purpose, reject } of pending) {
      reject(error ? await spawnFault(purpose, error, this.#options) : gitFault(purpose, this.#stderr, this.#options));
    }
  }
}
