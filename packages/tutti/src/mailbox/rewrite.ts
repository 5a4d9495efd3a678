import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { TuttiError } from "../schema/error.ts";
import type { World } from "../world.ts";
import { fileVersion, readFileText, type FileText } from "./read-text.ts";
import { replaceFile } from "./replace-file.ts";

/** An invalid file may be in the middle of a write by another program, which gets `SETTLE_MS` to finish. */
const SETTLE_MS = 250;
const MAX_TRIES = 100;

export interface FileProblem {
  file: string;
  sentence: string;
  /** The path of a copy of the damaged content, if the file was replaced (`setAside`). */
  keptAs?: string;
}

/** `problem` is a sentence about the file as a whole. */
export interface Content {
  problem: string | null;
}

type Parse<C extends Content> = (text: string | null) => C;

/**
 * `change` returns null to keep the file. The caller must hold the lock. If the file changed between reading and
 * replacing, the whole step is repeated. Invalid content is copied to another name first (`setAside`).
 */
export async function rewrite<C extends Content>(
  file: string,
  world: World,
  parse: Parse<C>,
  change: (content: C) => string | null,
): Promise<FileProblem[]> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const { text, content } = await readSettled(file, world, parse);
    const next = change(content);
    if (next === null) return [];
    const problems = content.problem === null ? [] : [setAside(file, text, content.problem)];
    if (replaceFile(file, next, () => fileVersion(file) === text.version)) return problems;
  }
  throw new TuttiError(
    "storage_failed",
    `${file} changes faster than it can be rewritten. Stop the other program that writes it.`,
  );
}

/** Reads again for up to `SETTLE_MS` if the file is empty or invalid and was changed just now. */
export async function readSettled<C extends Content>(
  file: string,
  world: World,
  parse: Parse<C>,
): Promise<{ text: FileText; content: C }> {
  const since = world.mono();
  for (;;) {
    const text = readFileText(file);
    const content = parse(text.text);
    const isSound = content.problem === null && text.text?.trim() !== "";
    const isOld = text.version === "" || world.now() - text.modifiedMs > SETTLE_MS;
    if (isSound || isOld || world.mono() - since > SETTLE_MS) return { text, content };
    await world.sleep(SETTLE_MS / 10);
  }
}

/** `keptAs` is derived from the hash of the content, so equal content is copied once. */
function setAside(file: string, { bytes }: FileText, sentence: string): FileProblem {
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const keptAs = join(dirname(file), `${basename(file)}.damaged-${digest}`);
  if (fileVersion(keptAs) === "") replaceFile(keptAs, bytes);
  return { file, sentence, keptAs };
}
