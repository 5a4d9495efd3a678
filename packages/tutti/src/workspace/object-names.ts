// Resolves names to objects: a ref or a hash, also with `^{commit}` or `^{tree}`. A run does this dozens of times, so
// one `git cat-file` process per repository serves all lookups while they keep coming. Nothing is cached: git reads the
// disk for each lookup.
import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { gitFault, MAX_STDERR, spawnFault, startGit, type GitOptions } from "./git.ts";

type LookupOptions = GitOptions & { gitDir: string };

/** The process ends after this time without a lookup. */
const IDLE_MS = 500;
/** Far longer than any lookup takes. */
const LOOKUP_TIMEOUT_MS = 60_000;

const lookups = new Map<string, Lookup>();

/** Returns null if the name does not resolve. */
export async function findObject(name: string, options: LookupOptions): Promise<string | null> {
  // A lookup is one line, and no ref name can contain these characters.
  if (/[\n\0]/.test(name)) return null;
  let lookup = lookups.get(options.gitDir);
  if (!lookup?.isOpen) {
    lookup = new Lookup(options);
    lookups.set(options.gitDir, lookup);
  }
  return lookup.find(name);
}

/** Resolves when no lookup process is left. */
export async function endQuestions(): Promise<void> {
  await Promise.all(Array.from(lookups.values(), (lookup) => lookup.end()));
}

interface PendingLookup {
  name: string;
  resolve: (hash: string | null) => void;
  reject: (error: unknown) => void;
}

class Lookup {
  readonly #options: LookupOptions;
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #closed = Promise.withResolvers<void>();
  readonly #idle: NodeJS.Timeout;
  readonly #timeout: NodeJS.Timeout;
  #pending: PendingLookup[] = [];
  #partialLine = "";
  #stderr = "";
  isOpen = true;

  constructor(options: LookupOptions) {
    this.#options = options;
    this.#process = startGit(["cat-file", "--batch-check=%(objectname)"], options);
    this.#idle = setTimeout(() => this.#endIfUnused(), IDLE_MS);
    this.#timeout = setTimeout(() => this.#process.kill("SIGKILL"), LOOKUP_TIMEOUT_MS);
    const { stdin, stdout, stderr } = this.#process;
    // The "close" handler reports the reason.
    stdin.on("error", () => {});
    stdout.setEncoding("latin1").on("data", (chunk: string) => this.#onOutput(chunk));
    stderr
      .setEncoding("latin1")
      .on("data", (chunk: string) => (this.#stderr += chunk.slice(0, MAX_STDERR - this.#stderr.length)));
    this.#process.on("error", (error) => void this.#fail(error));
    this.#process.on("close", () => void this.#fail(null));
  }

  find(name: string): Promise<string | null> {
    const { promise, resolve, reject } = Promise.withResolvers<string | null>();
    this.#pending.push({ name, resolve, reject });
    this.#idle.refresh();
    this.#timeout.refresh();
    this.#process.stdin.write(`${name}\n`);
    return promise;
  }

  /** Lookups already in flight are still served. */
  async end(): Promise<void> {
    this.isOpen = false;
    this.#process.stdin.end();
    await this.#closed.promise;
  }

  #endIfUnused(): void {
    if (this.#pending.length > 0) this.#idle.refresh();
    else void this.end();
  }

  /** Git prints one line per lookup, in order. */
  #onOutput(chunk: string): void {
    const lines = (this.#partialLine + chunk).split("\n");
    this.#partialLine = lines.pop()!;
    for (const line of lines) this.#pending.shift()?.resolve(/^[0-9a-f]{40,64}$/.test(line) ? line : null);
  }

  /** Rejects the lookups that are still pending when the process ends. */
  async #fail(error: Error | null): Promise<void> {
    this.isOpen = false;
    clearTimeout(this.#idle);
    clearTimeout(this.#timeout);
    if (lookups.get(this.#options.gitDir) === this) lookups.delete(this.#options.gitDir);
    const pending = this.#pending;
    this.#pending = [];
    this.#closed.resolve();
    for (const { name, reject } of pending) {
      const purpose = `find ${name}`;
      reject(error ? await spawnFault(purpose, error, this.#options) : gitFault(purpose, this.#stderr, this.#options));
    }
  }
}
