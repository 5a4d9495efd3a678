// `DATA/engine.sock` makes the engine of this process reachable for other commands of the same user.
//
// Invariants
// 1. Only the holder of the folder's lock creates or removes the socket, so it may replace the one of a killed process.
// 2. The socket appears under its name with its mode already set: it is bound in a private folder and then renamed.
import { chmodSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { HostedServers } from "./hosted-servers.ts";
import { openMachine } from "./machine.ts";
import { openTokens } from "./settings.ts";
import { engineSocketIn, withShortPath } from "./socket-path.ts";
import { readVersion } from "../own-files.ts";
import type { Engine } from "../engine/engine.ts";
import { startSocketServer } from "../server/start-socket-server.ts";
import type { TemplateLibrary } from "../template/files/library.ts";

export interface EngineSocket {
  followedRuns: () => Set<string>;
  /** Returns the runs that other processes followed until the socket was removed. */
  close(): Promise<Set<string>>;
}

interface SocketParts {
  engine: Engine;
  templates: TemplateLibrary;
  /** Handles the requests of `HostedServers`, which are no part of the API. */
  answerFirst: HostedServers["answer"];
}

export async function openEngineSocket(
  dataDir: string,
  { engine, templates, answerFirst }: SocketParts,
): Promise<EngineSocket> {
  const path = engineSocketIn(dataDir);
  const folder = `${path}.new`;
  const bound = join(folder, "s");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  try {
    const version = readVersion();
    const machine = openMachine(dataDir, version);
    const parts = { engine, templates, answerFirst, tokens: openTokens(dataDir), version, machine };
    const served = await startSocketServer(parts, (server) => withShortPath(bound, (short) => server.listen(short)));
    try {
      chmodSync(bound, 0o600);
      renameSync(bound, path);
    } catch (error) {
      await served.close();
      throw error;
    }
    return {
      followedRuns: served.followedRuns,
      async close() {
        const followed = served.followedRuns();
        rmSync(path, { force: true });
        await Promise.all([served.close(), machine.close()]);
        return followed;
      },
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
