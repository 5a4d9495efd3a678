import { PassThrough } from "node:stream";
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import type { createToolServer } from "./tool-server.ts";

interface ServedStdio {
  /** Resolves when the client has closed stdin and `finish` has answered every call. */
  closed: Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves one client on stdin and stdout. `finish` resolves when every call is answered. `StdioServerTransport` would
 * abort open calls at the end of its input, and a script that sends its requests through a pipe would get no answers.
 */
export function serveTools(
  server: () => ReturnType<typeof createToolServer>,
  finish: () => Promise<void>,
): ServedStdio {
  const input = new PassThrough();
  // Without a listener a closed terminal would end the process before its calls are answered.
  process.stdin.on("error", () => {});
  process.stdin.pipe(input, { end: false });
  const ended = new Promise<void>((resolve) => {
    process.stdin.once("end", resolve);
    process.stdin.once("close", resolve);
  });
  const served = serveStdio(server, { transport: new StdioServerTransport(input) });
  // A request that was read last becomes a call only in the next steps of the event loop, hence `SETTLE_MS`.
  const closed = ended.then(() => new Promise((resolve) => void setTimeout(resolve, SETTLE_MS))).then(finish);
  return { closed, close: () => served.close() };
}

const SETTLE_MS = 50;
