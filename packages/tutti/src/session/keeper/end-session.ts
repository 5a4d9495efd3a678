import { rmSync } from "node:fs";
import { identify, isAlive, signalProcess, sweep, type ProcessIdentity } from "../process.ts";
import { endUnstarted, paths, readEnd, readKeeper, removeUnfinished, request } from "./session-folder.ts";
import type { World } from "../../world.ts";

/** Ends the session through its keeper, or without one. Resolves when no process is left and it cannot start again. */
export async function endSession(folder: string, sessionId: string, world: World): Promise<void> {
  for (;;) {
    const keeper = readKeeper(folder);
    if (keeper === null) {
      const end = readEnd(folder);
      if (end?.keeper) await untilExited(end.keeper, world);
      if (end !== null || endUnstarted(folder, identify(process.pid))) break;
    } else if (isAlive(keeper)) {
      if (!requestStop(folder)) signalProcess(keeper.pid, "SIGTERM");
      await untilExited(keeper, world);
    } else {
      rmSync(paths(folder).keeper, { force: true });
    }
  }
  await sweep("TUTTI_SESSION_KEY", sessionId, (ms) => world.sleep(ms));
  removeUnfinished(folder);
}

async function untilExited(process: ProcessIdentity, world: World): Promise<void> {
  while (isAlive(process)) await world.sleep(20);
}

/** False if the request cannot be written, for example on a full disk. SIGTERM has the same effect. */
function requestStop(folder: string): boolean {
  try {
    request(folder, "stop", { type: "stop" });
    return true;
  } catch {
    return false;
  }
}
