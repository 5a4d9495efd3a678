// Which object a name stands for: a ref or a hash, also with `^{commit}` or `^{tree}`. That is asked dozens of times in
// every run, so one git answers as long as questions keep coming, instead of one process for each. It looks at the disk
// for every question; nothing is remembered between two.
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { gitFault, spawnFault, startGit, type GitOptions } from "./git.ts";

type Where = GitOptions & { gitDir: string };

/** So long nobody has asked when it ends. */
const IDLE_MS = 500;
/** Far longer than any answer takes. */
const PATIENCE_MS = 60_000;

const askers = new Map<string, Asker>();

/** The hash of the object, or null if the name stands for none. */
export async function findObject(name: string, where: Where): Promise<string | null> {
  // A question is a line, so such a name cannot be asked for; nor can a ref have it.
  if (/[\n\0]/.test(name)) return null;
  let asker = askers.get(where.gitDir);
  if (!asker?.isOpen) {
    asker = new Asker(where);
    askers.set(where.gitDir, asker);
  }
  return asker.ask(name);
}

/** Resolves when no process is left that answers questions. */
export async function endQuestions(): Promise<void> {
  await Promise.all(Array.from(askers.values(), (asker) => asker.end()));
}

interface Question {
  name: string;
  resolve: (hash: string | null) => void;
  reject: (error: unknown) => void;
}

class Asker {
  readonly #where: Where;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #gone = Promise.withResolvers<void>();
  readonly #idle: NodeJS.Timeout;
  readonly #patience: NodeJS.Timeout;
  #waiting: Question[] = [];
  #heard = "";
  #complaint = "";
  isOpen = true;

  constructor(where: Where) {
    this.#where = where;
    this.#process = startGit(["cat-file", "--batch-check=%(objectname)"], where);
    this.#idle = setTimeout(() => this.#rest(), IDLE_MS);
    this.#patience = setTimeout(() => this.#process.kill("SIGKILL"), PATIENCE_MS);
    const { stdin, stdout, stderr } = this.#process;
    // Why it can be told nothing more is said by its end.
    stdin.on("error", () => {});
    stdout.setEncoding("latin1").on("data", (chunk: string) => this.#hear(chunk));
    stderr.setEncoding("latin1").on("data", (chunk: string) => (this.#complaint += chunk));
    this.#process.on("error", (error) => void this.#fail(error));
    this.#process.on("close", () => void this.#fail(null));
  }

  ask(name: string): Promise<string | null> {
    const { promise, resolve, reject } = Promise.withResolvers<string | null>();
    this.#waiting.push({ name, resolve, reject });
    this.#idle.refresh();
    this.#patience.refresh();
    this.#process.stdin.write(`${name}\n`);
    return promise;
  }

  /** What was asked before is still answered. */
  async end(): Promise<void> {
    this.isOpen = false;
    this.#process.stdin.end();
    await this.#gone.promise;
  }

  #rest(): void {
    if (this.#waiting.length > 0) this.#idle.refresh();
    else void this.end();
  }

  /** One line for each question, in their order. */
  #hear(chunk: string): void {
    const lines = (this.#heard + chunk).split("\n");
    this.#heard = lines.pop()!;
    for (const line of lines) this.#waiting.shift()?.resolve(/^[0-9a-f]{40,64}$/.test(line) ? line : null);
  }

  /** Whoever still waits when it is gone will not be answered. */
  async #fail(error: Error | null): Promise<void> {
    this.isOpen = false;
    clearTimeout(this.#idle);
    clearTimeout(this.#patience);
    if (askers.get(this.#where.gitDir) === this) askers.delete(this.#where.gitDir);
    const unanswered = this.#waiting;
    this.#waiting = [];
    this.#gone.resolve();
    for (const { name, reject } of unanswered) {
      const purpose = `find ${name}`;
      reject(error ? await spawnFault(purpose, error, this.#where) : gitFault(purpose, this.#complaint));
    }
  }
}
