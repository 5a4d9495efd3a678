// `FileMask` masks secrets in a file that another process appends to. It overwrites them in place with the same number
// of bytes, so offsets stay valid.
import { closeSync, constants, existsSync, lstatSync, readdirSync, readSync, writeSync } from "node:fs";
import { join } from "node:path";
import { CONTEXT_BYTES, type Secrets } from "./find-secrets.ts";
import { forgetParts } from "../transcript/forget-parts.ts";
import { maskRegion } from "./mask.ts";
import { openRegular } from "../keeper/open-regular.ts";
import { trimErrors, trimOutput } from "../keeper/output-limit.ts";
import {
  filesOfAgent,
  listRequests,
  paths,
  readEnd,
  readJson,
  writeJson,
  type KeeperSpec,
  type SessionEnd,
} from "../keeper/session-folder.ts";
import { scratchFolder } from "../sandbox/scratch-folder.ts";
import { runInSlices } from "../time-slice.ts";
import { removeFile } from "../../durable-file.ts";

const CHUNK_BYTES = 256 * 1024;

export class FileMask {
  readonly #path: string;
  readonly #secrets: Secrets;
  /** The bytes before `#settled` are final. */
  #settled: number;
  #context: Buffer = Buffer.alloc(0);

  constructor(path: string, secrets: Secrets, from = 0) {
    this.#path = path;
    this.#secrets = secrets;
    this.#settled = from;
  }

  /**
   * Masks the bytes written since the last call. A possible start of a secret is examined again with the bytes after
   * it. Bytes from `until` on stay as they are. Yields after every chunk.
   */
  *look(until = Number.POSITIVE_INFINITY): Generator<null, void> {
    const size = lstatSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    if (Math.min(size, until) > this.#settled) yield* this.#mask(false, until);
  }

  /** Masks the rest. Call `finish` when no process writes to the file any more. */
  *finish(): Generator<null, void> {
    yield* this.#mask(true, Number.POSITIVE_INFINITY);
  }

  *#mask(isLast: boolean, until: number): Generator<null, void> {
    // Never through a link, which the agent may have put there: masking overwrites bytes of the file.
    const fd = openRegular(this.#path, constants.O_RDWR);
    if (fd === null) return;
    try {
      let size = CHUNK_BYTES;
      for (;;) {
        const previous = this.#settled;
        const isEnd = this.#maskChunk(fd, Math.min(size, until - previous), isLast);
        if (isEnd || previous + size >= until) return;
        // An undecided secret may be longer than one chunk.
        size = this.#settled === previous ? size * 2 : CHUNK_BYTES;
        yield null;
      }
    } finally {
      closeSync(fd);
    }
  }

  /** `#maskChunk` returns whether it reached the end of the file. */
  #maskChunk(fd: number, size: number, isLast: boolean): boolean {
    const chunk = Buffer.allocUnsafe(size);
    const length = readSync(fd, chunk, 0, size, this.#settled);
    if (length === 0) return true;
    const isEnd = length < size;
    const from = this.#context.length;
    const all = Buffer.concat([this.#context, chunk.subarray(0, length)]);
    const { regions, settled } = this.#secrets.find(all, from, isLast && isEnd);
    this.#context = Buffer.from(all.subarray(Math.max(0, settled - CONTEXT_BYTES), settled));
    for (let i = 0; i < regions.length; i += 2) {
      const [start, end] = [regions[i]!, regions[i + 1]!];
      maskRegion(all, start, end);
      writeSync(fd, all, start, end - start, this.#settled + start - from);
    }
    this.#settled += settled - from;
    return isEnd;
  }
}

/**
 * `maskRequests` is for a session that is over: until then its agent must get its command line, prompts and answers in
 * full.
 */
export function* maskRequests(folder: string, secrets: Secrets): Generator<null, void> {
  // The folder may have been removed with its run.
  if (!existsSync(paths(folder).requests)) return;
  yield* new FileMask(paths(folder).spec, secrets).finish();
  for (const name of listRequests(folder)) {
    yield* new FileMask(join(paths(folder).requests, `${name}.json`), secrets).finish();
  }
}

/** `COPIES` of the user's own settings may hold keys. The driver copies them again at the next start. */
const COPIES = new Set(["claude/.claude.json", "claude/settings.json", "codex/config.toml"]);
/**
 * A `DATABASE` may store the parts of one text in several places, where no mask finds them. Codex reads the
 * conversation from its transcript and builds its databases anew.
 */
const DATABASE = /\.(sqlite3?|db)(-wal|-shm|-journal)?$/;

/**
 * `maskAgentFolders` masks the stores of an agent in its session folder (`claude/`, `codex/`) after the session.
 * Transcripts are masked in place, so the agent could still resume the conversation. `name` is the part of `folder` to
 * mask.
 */
export function* maskAgentFolders(folder: string, secrets: Secrets, name = ""): Generator<null, void> {
  // The folder may have been removed with its run.
  if (!existsSync(join(folder, name))) return;
  // `scratchFolder` is not masked, because it is removed.
  const skipped = [paths(folder).requests, scratchFolder(folder)];
  for (const each of readdirSync(join(folder, name), { withFileTypes: true })) {
    const inner = name === "" ? each.name : `${name}/${each.name}`;
    const path = join(folder, inner);
    // The targets of links belong to the user.
    if (each.isDirectory() && !skipped.includes(path)) yield* maskAgentFolders(folder, secrets, inner);
    else if (!each.isFile() || name === "") continue;
    else if (COPIES.has(inner) || DATABASE.test(each.name)) removeFile(path);
    else yield* new FileMask(path, secrets).finish();
    yield null;
  }
}

/** The folders that `maskLeftovers` works on. */
const inProgress = new Map<string, Promise<void>>();

/** Masks the files of a session if its keeper was killed before it could. Concurrent calls share the work. */
export async function maskLeftovers(folder: string, secrets: Secrets): Promise<void> {
  if (readEnd(folder)?.masked) return;
  const work =
    inProgress.get(folder) ?? runInSlices(maskSteps(folder, secrets)).finally(() => inProgress.delete(folder));
  inProgress.set(folder, work);
  await work;
}

function* maskSteps(folder: string, secrets: Secrets): Generator<null, void> {
  removeFile(paths(folder).raw);
  trimOutput(folder, readJson<KeeperSpec>(paths(folder).spec)?.maxOutputBytes);
  trimErrors(folder);
  yield* forgetParts(folder);
  for (const file of filesOfAgent(folder)) yield* new FileMask(file, secrets).finish();
  yield* maskRequests(folder, secrets);
  yield* maskAgentFolders(folder, secrets);
  const end = readEnd(folder);
  if (end) writeJson(paths(folder).end, { ...end, masked: true } satisfies SessionEnd);
}
