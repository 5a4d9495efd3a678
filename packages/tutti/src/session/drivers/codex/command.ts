// `codexCommand` starts the app server of Codex with JSON lines on stdin and stdout, one process per session.
import { SERVER_NAME } from "../../tools/own-tool.ts";
import type { Permissions } from "../../../schema/permissions.ts";

/** `CODEX` is searched on the PATH, where the user may have a launcher. */
export const CODEX = "codex";

const LOGIN_KEY = "CODEX_API_KEY";
const PLAIN_KEY = "OPENAI_API_KEY";
const BASE_URL = "OPENAI_BASE_URL";
const OPENAI_URL = "https://api.openai.com/v1";

const OF_NETWORK: readonly string[] = [
  ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"],
  ["CODEX_CA_CERTIFICATE", "SSL_CERT_FILE", "SSL_CERT_DIR"],
].flat();

/** Adds the key and the endpoint of OpenAI if the user has no other provider. */
export function codexPassedEnv(setting: CodexSetting, env: NodeJS.ProcessEnv): string[] {
  if (setting.hasProvider) return [...OF_NETWORK];
  return [...OF_NETWORK, keyOf(setting, env) ?? [], BASE_URL, "OPENAI_ORGANIZATION", "OPENAI_PROJECT"].flat();
}

/** As in Codex, `CODEX_API_KEY` wins over a login, and a login over `OPENAI_API_KEY`. */
const keyOf = ({ hasLogin }: CodexSetting, env: NodeJS.ProcessEnv): string | null =>
  env[LOGIN_KEY] ? LOGIN_KEY : !hasLogin && env[PLAIN_KEY] ? PLAIN_KEY : null;

export interface CodexSetting {
  /** `hasLogin` means that the user's credentials file exists. */
  hasLogin: boolean;
  /** `hasProvider` means that the user's configuration names a model provider. */
  hasProvider: boolean;
  /** The MCP servers of the configuration. They are disabled, because each session would start them again. */
  servers: readonly string[];
}

export function codexCommand(setting: CodexSetting, env: NodeJS.ProcessEnv): string[] {
  const withoutServers = setting.servers.flatMap((name) => ["-c", `mcp_servers.${name}.enabled=false`]);
  return [CODEX, "app-server", ...withoutServers, ...providerFlags(setting, env)];
}

/**
 * The app server reads no key from its environment, unlike the other commands of Codex, but a configured provider does.
 * With `providerFlags` no key needs to be written to a file.
 */
function providerFlags(setting: CodexSetting, env: NodeJS.ProcessEnv): string[] {
  const key = keyOf(setting, env);
  if (key === null || setting.hasProvider) return [];
  const url = env[BASE_URL] || OPENAI_URL;
  const members = { name: "OpenAI", base_url: url, env_key: key, wire_api: "responses" };
  const table = Object.entries(members).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return ["-c", "model_provider=openai-key", "-c", `model_providers.openai-key={${table.join(",")}}`];
}

/** A question to the user may wait for weeks, so `CALL_TIMEOUT_S` is the longest possible. */
const CALL_TIMEOUT_S = 2_147_483;

/**
 * `toolSettings` are the tools that Tutti offers, as settings of a thread. Single settings, because a whole table would
 * replace those that disable the servers of the user. Codex reads the token from its environment.
 */
export const toolSettings = (url: string): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries({
      url,
      bearer_token_env_var: "TUTTI_MCP_TOKEN",
      enabled: true,
      tool_timeout_sec: CALL_TIMEOUT_S,
      default_tools_approval_mode: "approve",
    }).map(([name, value]) => [`mcp_servers.${SERVER_NAME}.${name}`, value]),
  );

/** Without a limit of the run, Codex uses its own. */
export function depthSettings(depth: number | undefined): Record<string, unknown> {
  if (depth === undefined) return {};
  return depth === 0 ? { "features.multi_agent": false } : { "agents.max_depth": depth };
}

interface ThreadSettings {
  approvalPolicy: "untrusted" | "on-request";
  approvalsReviewer: "user";
  sandbox: "read-only";
}

/**
 * `on-request` asks only for actions outside the sandbox; a stricter run needs `untrusted`, which asks for every
 * command.
 *
 * The thread of `threadSettings` must start in the `read-only` sandbox: with any other, Codex assumes that the user
 * trusts the repository and starts the programs that the repository's configuration names.
 */
export function threadSettings({ mode, refuse }: Permissions): ThreadSettings {
  const strict = mode === "ask" || mode === "listed" || refuse.length > 0;
  return {
    approvalPolicy: strict ? "untrusted" : "on-request",
    approvalsReviewer: "user",
    sandbox: "read-only",
  };
}

interface TurnSandbox {
  type: "workspaceWrite";
  writableRoots: string[];
  networkAccess: false;
  excludeTmpdirEnvVar: false;
  excludeSlashTmp: boolean;
}

/**
 * `turnSandbox` is sent with each turn: only the workspace and temporary files are writable, and there is no network. A
 * strict run uses it too, because an approved change would fail in a read-only sandbox. `/tmp` is not writable if
 * Codex's home is in it, because that home contains the programs of the sandbox.
 */
export const turnSandbox = (home: string): TurnSandbox => ({
  type: "workspaceWrite",
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: home.startsWith("/tmp/"),
});
