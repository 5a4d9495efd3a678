import { existsSync, readdirSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Secrets } from "../secrets/find-secrets.ts";
import { maskLeftovers } from "../secrets/mask-file.ts";
import { isAlive } from "../process.ts";
import { pack } from "../keeper/session-file.ts";
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
} from "../keeper/session-folder.ts";
import { findSessionProcesses } from "../keeper/session-processes.ts";
import { removeScratch } from "../sandbox/scratch-folder.ts";
import { syncFolder } from "../../durable-file.ts";
import { TuttiError } from "../../schema/error.ts";
import { pathName } from "../../schema/ids.ts";

/** Writes `archive.json` last, so a session that has it is packed completely. */
export async function archiveSession(folder: string, archivedAt: number, secrets: Secrets): Promise<void> {
  const at = paths(folder);
  const sessionId = startedSession(folder);
  if (sessionId === null || isArchived(folder)) return;
  if (isLiving(folder, sessionId)) throw stillAlive(sessionId);
  removeUnfinished(folder);
  const requests = listRequests(folder).map((name) => join(at.requests, `${name}.json`));
  await maskLeftovers(folder, secrets);
  for (const file of [...filesOfAgent(folder), at.journal, ...requests]) await pack(file);
  await removeFoldersOfAgent(folder);
  writeJson(at.archive, { archivedAt } satisfies ArchiveMark);
}

export const stillAlive = (sessionId: string): TuttiError =>
  new TuttiError(
    "wrong_state",
    `Session ${JSON.stringify(sessionId)} is still alive and cannot be archived. Wait until it has ended, or end it first.`,
  );

/** The agent's folders are useless without the session. The targets of symbolic links belong to the user and stay. */
async function removeFoldersOfAgent(folder: string): Promise<void> {
  await removeScratch(folder);
  const { requests } = paths(folder);
  for (const each of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, each.name);
    if (each.isDirectory() && path !== requests) await rm(path, { recursive: true, force: true });
  }
}

export const isArchived = (folder: string): boolean => existsSync(paths(folder).archive);

export function livingSessions(runFolder: string): string[] {
  return (existsSync(runFolder) ? readdirSync(runFolder) : []).flatMap((name) => {
    const sessionId = startedSession(join(runFolder, name));
    return sessionId !== null && isLiving(join(runFolder, name), sessionId) ? [sessionId] : [];
  });
}

/**
 * Deletes all sessions of a run, unless some of them are still alive. `forgetSessions` renames the folder first, so a
 * repeat after a crash finds it whole or not at all.
 */
export async function forgetSessions(folder: string, runId: string, findLiving: () => string[]): Promise<void> {
  // `runId` names a folder to delete, so it must not contain a path that leads out of `folder`.
  if (pathName(runId) !== runId) {
    const problem = `${JSON.stringify(runId)} is not a run id.`;
    throw new TuttiError("invalid_input", `${problem} List runs with "tutti list".`);
  }
  const living = findLiving();
  if (living.length > 0)
    throw new TuttiError("wrong_state", `Sessions of the run are still alive: ${living.join(", ")}. End them first.`);
  const runFolder = join(folder, runId);
  const aside = `${runFolder}.forgotten`;
  await rm(aside, { recursive: true, force: true });
  if (existsSync(runFolder)) await rename(runFolder, aside);
  await rm(aside, { recursive: true, force: true });
  // The deletion must survive a power cut.
  if (existsSync(folder)) syncFolder(folder);
}

const startedSession = (folder: string): string | null => readJson<KeeperSpec>(paths(folder).spec)?.sessionId ?? null;

/** Without keeper and end a session is about to start. The agent of a dead keeper may still run. */
function isLiving(folder: string, sessionId: string): boolean {
  const keeper = readKeeper(folder);
  // Read after the keeper: a keeper that ends properly writes `end.json` before it removes `keeper.json`.
  if (readEnd(folder) !== null) return false;
  return keeper === null || isAlive(keeper) || findSessionProcesses(sessionId).length > 0;
}
