// `serveFolder` serves a data folder until a signal. While another command works on the folder, the process of that
// command listens on the port, because it has the engine. When it ends, this process opens the engine and listens on
// the same port.
import { EngineAddress } from "../access/engine-address.ts";
import { announceServer, findServer } from "../access/server-file.ts";
import { untilFree } from "../access/until-free.ts";
import { SERVER_GRACE_MS, untilInterrupted, whenAborted } from "../terminal/interrupt.ts";
import { startLocalServer, type LocalServerOptions } from "../../main/local-server.ts";
import type { HostedServer } from "../../schema/api/hosted-server.ts";
import { TuttiError } from "../../schema/error.ts";

/** How long another process may hold the folder before it `answers`: it starts, or it ends its agents. */
const FREE_MS = 15_000;

interface OpenedServer extends HostedServer {
  /** Resolves when the process of another command has ended. Rejects if the engine of this process has `halted`. */
  ended: Promise<void>;
  close: () => Promise<void>;
}

export async function serveFolder(
  options: LocalServerOptions,
  leaveRunning: boolean,
  onListening: (server: HostedServer) => void,
): Promise<number> {
  const other = findServer(options.dataDir);
  if (other) {
    const message = `A server of this data folder already runs at ${other.url}. Use it with "tutti open", or choose another --data-dir.`;
    throw new TuttiError("wrong_state", message);
  }
  return untilInterrupted(async (signal) => {
    const stopped = whenAborted(signal);
    let current = options;
    let isFirst = true;
    while (!signal.aborted) {
      const server = await untilFree(FREE_MS, () => openServer(current, leaveRunning), signal);
      let removeServerFile = () => {};
      try {
        removeServerFile = announceServer(options.dataDir, { url: server.url, ownToken: options.token !== undefined });
        if (isFirst) onListening(server);
        isFirst = false;
        current = { ...options, port: Number(new URL(server.url).port) };
        await Promise.race([stopped, server.ended]);
      } finally {
        removeServerFile();
        await server.close();
      }
    }
    return 0;
  }, SERVER_GRACE_MS);
}

async function openServer(options: LocalServerOptions, leaveRunning: boolean): Promise<OpenedServer> {
  const address = new EngineAddress(options.dataDir);
  // The engine of another command has its log in the data folder, so it cannot serve a `databaseUrl`.
  if (options.databaseUrl === undefined && (await address.answers())) {
    const { host, port, orFreePort, token, rateLimit, folders, retainDays, sandbox } = options;
    if (sandbox !== undefined)
      throw new TuttiError(
        "wrong_state",
        "Another command has the engine of this data folder, so --sandbox has no effect. Wait until it has ended.",
      );
    const request = { host, port, orFreePort, token, rateLimit, folders: folders && [...folders], retainDays };
    const { url, openUrl, ended, close } = await address.openServer(request);
    return { url, openUrl, ended, close: async () => close() };
  }
  const { url, openUrl, halted, close } = await startLocalServer(options);
  return { url, openUrl, ended: halted, close: () => close({ leaveRunning }) };
}
