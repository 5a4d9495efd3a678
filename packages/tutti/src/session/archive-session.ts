// What becomes of session folders when their work is over: they are packed to be kept, or removed for good.
import { existsSync, readdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Secrets } from "./find-secrets.ts";
import { maskLeftovers } from "./mask-file.ts";
import { findMarked, isAlive } from "./process.ts";
import { pack } from "./session-file.ts";
import {
  filesOfAgent,
  listRequests,
  paths,
  readEnd,
  readJson,
  readKeeper,
  removeUnfinished,
  writeJson,
  type ArchiveMark,
  type KeeperSpec,
} from "./session-folder.ts";
import { syncFolder } from "../durable-file.ts";
import { TuttiError } from "../schema/error.ts";

/** The mark is written last, so a session that has it is packed as a whole. */
export async function archiveSession(folder: string, archivedAt: number, secrets: Secrets): Promise<void> {
  const at = paths(folder);
  const sessionId = begunSession(folder);
  if (sessionId === null || isArchived(folder)) return;
  if (isLiving(folder, sessionId))
    throw new TuttiError("wrong_state", `the session ${sessionId} is still alive; it can be archived once it is over`);
  removeUnfinished(folder);
  const requests = listRequests(folder).map((name) => join(at.requests, name));
  maskLeftovers(folder, secrets);
  for (const file of [...filesOfAgent(folder), at.journal, ...requests]) await pack(file);
  await removeFoldersOfAgent(folder);
  writeJson(at.archive, { archivedAt } satisfies ArchiveMark);
}

/**
 * What an agent kept for itself (its configuration, its own notes of the conversation) is of no use without its process,
 * and nobody has masked the secrets in it. What it links to is the person's and stays.
 */
async function removeFoldersOfAgent(folder: string): Promise<void> {
  const { requests } = paths(folder);
  for (const each of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, each.name);
    if (each.isDirectory() && path !== requests) await rm(path, { recursive: true, force: true });
  }
}

export const isArchived = (folder: string): boolean => existsSync(paths(folder).archive);

/** Removes a run's folder. It is put aside first, so that a repeat after a crash finds it whole or not at all. */
export async function forgetSessions(runFolder: string): Promise<void> {
  const living = (existsSync(runFolder) ? readdirSync(runFolder) : []).flatMap((name) => {
    const sessionId = begunSession(join(runFolder, name));
    return sessionId !== null && isLiving(join(runFolder, name), sessionId) ? [sessionId] : [];
  });
  if (living.length > 0)
    throw new TuttiError("wrong_state", `sessions of the run are still alive: ${living.join(", ")}; end them first`);
  const aside = `${runFolder}.forgotten`;
  await rm(aside, { recursive: true, force: true });
  if (existsSync(runFolder)) await rename(runFolder, aside);
  await rm(aside, { recursive: true, force: true });
  // What was deleted on demand stays away, also after a power cut.
  if (existsSync(dirname(runFolder))) syncFolder(dirname(runFolder));
}

const begunSession = (folder: string): string | null => readJson<KeeperSpec>(paths(folder).spec)?.sessionId ?? null;

/** One that has neither a keeper nor an end is about to start. A dead keeper may have left its agent behind. */
function isLiving(folder: string, sessionId: string): boolean {
  const keeper = readKeeper(folder);
  // Looked at after the keeper: one that ends properly writes its end before it goes.
  if (readEnd(folder) !== null) return false;
  return keeper === null || isAlive(keeper) || findMarked("TUTTI_SESSION_KEY", sessionId).length > 0;
}
