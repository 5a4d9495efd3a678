// How Codex is started: as the server for applications of their own, one process per session, JSON lines on stdio.
import type { Permissions } from "../../../schema/permissions.ts";

/** As it is found on the PATH; a person may have a launcher of their own there. */
export const CODEX = "codex";

/** Keys in the order in which they count. */
const LOGIN_KEY = "CODEX_API_KEY";
const PLAIN_KEY = "OPENAI_API_KEY";
const BASE_URL = "OPENAI_BASE_URL";
const OPENAI_URL = "https://api.openai.com/v1";

/** Who pays, whom to ask, and the way there. */
export const CODEX_PASSED_ENV: readonly string[] = [
  [LOGIN_KEY, PLAIN_KEY, BASE_URL, "OPENAI_ORGANIZATION", "OPENAI_PROJECT"],
  ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"],
  ["CODEX_CA_CERTIFICATE", "SSL_CERT_FILE", "SSL_CERT_DIR"],
].flat();

export interface CodexSetting {
  /** Whether the person has logged in, so that there is a file about it. */
  hasLogin: boolean;
  /** Whether the person's configuration names whom to ask. */
  hasProvider: boolean;
  /** The MCP servers of that configuration. They would be started once more for every session. */
  servers: readonly string[];
}

export function codexCommand(setting: CodexSetting, env: NodeJS.ProcessEnv): string[] {
  const withoutServers = setting.servers.flatMap((name) => ["-c", `mcp_servers.${name}.enabled=false`]);
  return [CODEX, "app-server", ...withoutServers, ...providerFlags(setting, env)];
}

/**
 * The server takes no key from its environment, unlike the program's other commands. A provider that is set up for it
 * does, and so no key has to be written to a file. As there, one key counts more than a login and the other one less.
 */
function providerFlags({ hasLogin, hasProvider }: CodexSetting, env: NodeJS.ProcessEnv): string[] {
  const key = env[LOGIN_KEY] ? LOGIN_KEY : !hasLogin && env[PLAIN_KEY] ? PLAIN_KEY : null;
  if (key === null || hasProvider) return [];
  const url = env[BASE_URL] || OPENAI_URL;
  const members = { name: "OpenAI", base_url: url, env_key: key, wire_api: "responses" };
  const table = Object.entries(members).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return ["-c", "model_provider=openai-key", "-c", `model_providers.openai-key={${table.join(",")}}`];
}

export interface ThreadSettings {
  approvalPolicy: "untrusted" | "on-request";
  approvalsReviewer: "user";
  sandbox: "read-only";
}

/**
 * What Codex wants beyond its sandbox it asks for. Where the run is stricter, it has to ask before everything.
 *
 * A thread begins in a sandbox for reading: Codex takes a request for any other as a sign that the person trusts the
 * repository, and then starts the programs that the repository's own configuration names.
 */
export function threadSettings({ mode, refuse }: Permissions): ThreadSettings {
  const strict = mode === "ask" || mode === "listed" || refuse.length > 0;
  return {
    approvalPolicy: strict ? "untrusted" : "on-request",
    approvalsReviewer: "user",
    sandbox: "read-only",
  };
}

export interface TurnSandbox {
  type: "workspaceWrite";
  writableRoots: string[];
  networkAccess: false;
  excludeTmpdirEnvVar: false;
  excludeSlashTmp: boolean;
}

/**
 * Given with each turn: nothing can be changed but the workspace and temporary files, and no network be reached. This
 * also holds for a strict run, because what a person has allowed would fail in a sandbox for reading. Where the home of
 * Codex itself is in `/tmp`, it is not open: the programs that make the sandbox lie in that home.
 */
export const turnSandbox = (home: string): TurnSandbox => ({
  type: "workspaceWrite",
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: home.startsWith("/tmp/"),
});
