import { runResources } from "./run-resources.ts";
import { INSTRUCTIONS, runTools } from "./run-tools.ts";
import { RunsLink } from "./runs-link.ts";
import { readNumber } from "../input/read-number.ts";
import { untilInterrupted, whenAborted } from "../terminal/interrupt.ts";
import type { Output } from "../terminal/output.ts";
import { readToken } from "../../main/data-folder.ts";
import { startLocalMcp } from "../../main/local-mcp.ts";
import { openTokens } from "../../main/settings.ts";
import { readVersion } from "../../own-files.ts";
import { serveTools } from "../../mcp/serve-stdio.ts";
import { createToolServer } from "../../mcp/tool-server.ts";
import { findServer } from "../access/server-file.ts";
import { TuttiError } from "../../schema/error.ts";

/** Serves until a signal or, on stdin, until the client closes it. */
export async function mcp(output: Output, flags: { http?: string }): Promise<number> {
  const link = new RunsLink(output);
  const server = (token: string | null) =>
    createToolServer({
      instructions: INSTRUCTIONS,
      version: readVersion(),
      tools: runTools({ output, link, token }),
      resources: runResources(link, token),
    });
  const serve = flags.http === undefined ? serveStdin(output, link, server) : serveHttp(output, flags.http, server);
  await untilInterrupted(async (signal) => {
    try {
      await serve(signal);
    } finally {
      await link.close();
    }
  });
  return 0;
}

type ToolServers = (token: string | null) => ReturnType<typeof createToolServer>;

function serveStdin(output: Output, link: RunsLink, server: ToolServers) {
  const token = tokenOnDisk(output);
  return async (signal: AbortSignal): Promise<void> => {
    const served = serveTools(
      () => server(token),
      () => link.finish(),
    );
    await Promise.race([served.closed, whenAborted(signal)]);
    await served.close();
  };
}

/**
 * Returns null for a server, which gets the token of `findAddress`, and for the user, who needs none. A named token of
 * the data folder restricts the client to its rights.
 */
function tokenOnDisk({ token = process.env["TUTTI_TOKEN"], url, dataDir }: Output): string | null {
  if (token === undefined || url !== undefined || findServer(dataDir) || token === readToken(dataDir)) return null;
  if (openTokens(dataDir).find(token)) return token;
  throw new TuttiError("unauthorized", "The token is wrong, expired or revoked. Leave it out, or create a new one.");
}

const serveHttp = (output: Output, port: string, server: ToolServers) => async (signal: AbortSignal) => {
  const running = await startLocalMcp({
    dataDir: output.dataDir,
    port: readNumber("--http", port, 0, 65_535),
    token: output.token ?? process.env["TUTTI_TOKEN"],
    server,
  });
  try {
    const url = `${running.url}/mcp`;
    output.value({ url });
    output.result(`listening on ${url}`);
    await whenAborted(signal);
  } finally {
    await running.close();
  }
};
