import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { createToolServer } from "./tool-server.ts";

export interface ServedStdio {
  /** Resolves when the client closes stdin. */
  closed: Promise<void>;
  close(): Promise<void>;
}

/** Serves one client on stdin and stdout. */
export function serveTools(server: () => ReturnType<typeof createToolServer>): ServedStdio {
  const closed = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
  });
  const served = serveStdio(server);
  return { closed, close: () => served.close() };
}
