import { identify, isAlive, signalProcess, type ProcessIdentity } from "../process.ts";
import { endUnstarted, paths, readEnd, readKeeper, removeUnfinished, type SessionEnd } from "./session-folder.ts";
import { sweepSession } from "./session-processes.ts";
import { removeScratch } from "../sandbox/scratch-folder.ts";
import { removeFile, tryToWrite, whenAccessible } from "../../durable-file.ts";
import type { World } from "../../world.ts";

/** `KEEPER_GRACE_MS` is longer than the keeper itself gives its agent. */
export const KEEPER_GRACE_MS = 12_000;
/** A keeper exits or waits for another session within `KEEPER_EXIT_MS` after it wrote `end.json`. */
export const KEEPER_EXIT_MS = 5000;

/**
 * Ends the session through its keeper, or without one. Kills a keeper that hangs or is stopped after `graceMs`. Resolves
 * when no process is left and the session cannot start again.
 */
export async function endSession(
  folder: string,
  sessionId: string,
  world: World,
  graceMs = KEEPER_GRACE_MS,
): Promise<void> {
  for (;;) {
    const keeper = readKeeper(folder);
    if (keeper === null) {
      const end = readEnd(folder);
      if (end) await untilKeeperExited(end, world);
      // In a folder that cannot be written no keeper can start.
      if (end !== null || whenAccessible(() => endUnstarted(folder, identify(process.pid)), true)) break;
    } else if (isAlive(keeper)) {
      await terminate(keeper, graceMs, world);
    } else if (!tryToWrite(() => removeFile(paths(folder).keeper))) {
      // The file then names a dead keeper, which also shows that the session is over.
      break;
    }
  }
  await sweepSession(sessionId, (ms) => world.sleep(ms), { isRepeated: readEnd(folder)?.masked === true });
  // A file that `removeScratch` cannot remove now is removed when the session is archived.
  await removeScratch(folder).catch(() => {});
  tryToWrite(() => removeUnfinished(folder));
}

export async function untilKeeperExited({ keeper }: SessionEnd, world: World): Promise<void> {
  if (keeper) await untilExited(keeper, KEEPER_EXIT_MS, world);
}

/** The keepers that got a signal and have not exited yet, by pid. */
const signalled = new Set<number>();

/** A keeper may receive the signal of a session that has just ended when it has another one already. */
export const isSignalled = (pid: number): boolean => signalled.has(pid);

async function terminate(keeper: ProcessIdentity, graceMs: number, world: World): Promise<void> {
  signalled.add(keeper.pid);
  try {
    signalProcess(keeper.pid, "SIGTERM");
    await untilExited(keeper, graceMs, world);
  } finally {
    signalled.delete(keeper.pid);
  }
}

/** `untilExited` kills the process if it is still there after `graceMs`. */
async function untilExited(keeper: ProcessIdentity, graceMs: number, world: World): Promise<void> {
  const since = world.mono();
  while (isAlive(keeper)) {
    if (world.mono() - since >= graceMs) signalProcess(keeper.pid, "SIGKILL");
    await world.sleep(20);
  }
}
