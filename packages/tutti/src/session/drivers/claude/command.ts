// `claudeCommand` starts one process per session that reads lines from stdin and asks Tutti for every permission.
import { createHash } from "node:crypto";
import { SERVER_NAME } from "../../tools/own-tool.ts";

/** `CLAUDE` is searched on the PATH, where the user may have a launcher. */
export const CLAUDE = "claude";

/** `WITHHELD` tools leave the workspace, wait for a user at a terminal, or start work after the end of the turn. */
const WITHHELD = "EnterWorktree,ExitWorktree,EnterPlanMode,ExitPlanMode,CronCreate,CronDelete,CronList,ScheduleWakeup";

const BEGIN = "--session-id";

/** A question to the user may wait for weeks, so `CALL_TIMEOUT_MS` is the longest possible. */
const CALL_TIMEOUT_MS = 2_147_483_647;

/** The program replaces the variables itself, so that no list of processes shows `TUTTI_MCP_TOKEN`. */
const TOOLS = JSON.stringify({
  mcpServers: {
    [SERVER_NAME]: {
      type: "http",
      url: "${TUTTI_MCP_URL}",
      headers: { Authorization: "Bearer ${TUTTI_MCP_TOKEN}" },
      alwaysLoad: true,
      timeout: CALL_TIMEOUT_MS,
    },
  },
});

/** Tutti chooses the id of the `conversation`, so it can resume one after its process died. */
export function claudeCommand(conversation: string, cwd: string, model?: string): string[] {
  const lines = "--verbose --input-format stream-json --output-format stream-json";
  const messages = "--include-partial-messages --replay-user-messages";
  const permissions = "--permission-prompt-tool stdio --permission-mode default";
  // The repository's settings are skipped: they may name programs that the user did not agree to. `--add-dir` with
  // CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD still loads its CLAUDE.md.
  const settings = "--setting-sources user --strict-mcp-config";
  return [
    CLAUDE,
    ...`-p ${lines} ${messages} ${permissions} --disallowedTools ${WITHHELD} ${settings}`.split(" "),
    "--mcp-config",
    TOOLS,
    "--allowedTools",
    `mcp__${SERVER_NAME}`,
    ...(model === undefined ? [] : ["--model", model]),
    "--add-dir",
    cwd,
    BEGIN,
    conversation,
  ];
}

export const resumeCommand = (command: readonly string[]): string[] => command.with(command.indexOf(BEGIN), "--resume");

/** `beginCommand` is the same command for another conversation. */
export const beginCommand = (command: readonly string[], conversation: string): string[] =>
  command.with(command.indexOf(BEGIN) + 1, conversation);

/** The dialogue depends on `CLAUDE_ENV`, so the user cannot change these variables. */
export const CLAUDE_ENV: Readonly<Record<string, string>> = {
  /** Reports the end of a turn, which may have several results. */
  CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1",
  CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1",
};

export const CLAUDE_DEFAULTS: Readonly<Record<string, string>> = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  /** Few retries, because the run's own back-off covers all sessions. */
  CLAUDE_CODE_MAX_RETRIES: "2",
  /** Per request, in milliseconds. */
  API_TIMEOUT_MS: "300000",
};

const OF_ANTHROPIC = `
  ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_CUSTOM_HEADERS CLAUDE_CODE_OAUTH_TOKEN
  ANTHROPIC_MODEL ANTHROPIC_SMALL_FAST_MODEL
  ANTHROPIC_DEFAULT_OPUS_MODEL ANTHROPIC_DEFAULT_SONNET_MODEL ANTHROPIC_DEFAULT_HAIKU_MODEL
  HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy
  NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR
  CLAUDE_CODE_CLIENT_CERT CLAUDE_CODE_CLIENT_KEY CLAUDE_CODE_CLIENT_KEY_PASSPHRASE
  CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_USE_VERTEX
`;
const OF_BEDROCK = `
  CLAUDE_CODE_SKIP_BEDROCK_AUTH ANTHROPIC_BEDROCK_BASE_URL
  AWS_REGION AWS_DEFAULT_REGION AWS_PROFILE AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE
  AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK
`;
const OF_VERTEX = `
  CLAUDE_CODE_SKIP_VERTEX_AUTH ANTHROPIC_VERTEX_BASE_URL
  ANTHROPIC_VERTEX_PROJECT_ID CLOUD_ML_REGION GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT
`;

/** Passes on the keys of another cloud only if the user has switched to it. */
export function claudePassedEnv(env: NodeJS.ProcessEnv): string[] {
  const isOn = (name: string): boolean => !["", "0", "false"].includes(env[name] ?? "");
  const names = [
    OF_ANTHROPIC,
    isOn("CLAUDE_CODE_USE_BEDROCK") ? OF_BEDROCK : "",
    isOn("CLAUDE_CODE_USE_VERTEX") ? OF_VERTEX : "",
  ];
  return names.join(" ").trim().split(/\s+/);
}

/** `uuidOf` is the same for the same `name`, so that the session id determines the conversation's id. */
export function uuidOf(name: string): string {
  const hex = createHash("sha256").update(name).digest("hex");
  const variant = "89ab"[Number.parseInt(hex[16]!, 16) % 4];
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join("-");
}
