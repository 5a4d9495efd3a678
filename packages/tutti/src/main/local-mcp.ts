import { resolve } from "node:path";
import { openTokens } from "./settings.ts";
import { loadToken } from "../server/access/token.ts";
import { startMcpServer, type McpServerOptions } from "../server/start-mcp-server.ts";
import type { RunningServer } from "../server/start-server.ts";

interface LocalMcpOptions extends Pick<McpServerOptions, "port" | "server"> {
  dataDir: string;
  token: string | undefined;
}

export function startLocalMcp({ dataDir, token, port, server }: LocalMcpOptions): Promise<RunningServer> {
  const folder = resolve(dataDir);
  return startMcpServer({ token: loadToken(folder, token), tokens: openTokens(folder), port, server });
}
