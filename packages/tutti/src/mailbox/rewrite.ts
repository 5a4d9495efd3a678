// Reading and replacing a file that programs which know nothing of our lock write too.
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { TuttiError } from "../schema/error.ts";
import type { World } from "../world.ts";
import { fileVersion, readFileText } from "./read-text.ts";
import type { FileText } from "./read-text.ts";
import { replaceFile } from "./replace-file.ts";

/** A file that is not sound may be one that another program is just writing; it gets this long to finish. */
const SETTLE_MS = 250;
const MAX_TRIES = 100;

/** Something wrong with a file, for a person. */
export interface FileProblem {
  file: string;
  sentence: string;
  /** Where its content was kept when the file was replaced. */
  keptAs?: string;
}

/** What the text of a file means, and what is wrong with the file as a whole. */
export interface Content {
  problem: string | null;
}

type Parse<C extends Content> = (text: string | null) => C;

/**
 * Reads, changes and replaces a file; null leaves it alone. The caller holds the lock. Just before the file is replaced
 * it is looked at once more: if it has changed since it was read, the work begins again. What is not sound is kept
 * under a name of its own first.
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
  throw new TuttiError("storage_failed", `${file} is changed by another program all the time`);
}

/** Reads a file. One that is empty or not sound and was changed just now is read again a little later. */
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

/** Gives what is not sound a name of its own; the same content always gets the same one. */
function setAside(file: string, { bytes }: FileText, sentence: string): FileProblem {
  const digest = createHash("sha256").update(bytes).digest("hex").slice(0, 12);
  const keptAs = join(dirname(file), `${basename(file)}.damaged-${digest}`);
  if (fileVersion(keptAs) === "") replaceFile(keptAs, bytes);
  return { file, sentence, keptAs };
}
