// How Claude Code is started: as one process per session that takes lines on stdin, with every decision left to us.
import { createHash } from "node:crypto";

/** As it is found on the PATH; a person may have a launcher of their own there. */
export const CLAUDE = "claude";

/**
 * Tools that would take the session out of our hands: away from its workspace, into a mode that waits for a person at a
 * terminal, or awake again by itself after its turn.
 */
const WITHHELD = "EnterWorktree,ExitWorktree,EnterPlanMode,ExitPlanMode,CronCreate,CronDelete,CronList,ScheduleWakeup";

const BEGIN = "--session-id";

/** The conversation has a name of our choice, so that it can be taken up again even if its process told us nothing. */
export function claudeCommand(conversation: string, cwd: string): string[] {
  const lines = "--verbose --input-format stream-json --output-format stream-json";
  const telling = "--include-partial-messages --replay-user-messages";
  const asking = "--permission-prompt-tool stdio --permission-mode default";
  // The repository's own settings may name programs to run, and nobody was asked. Its CLAUDE.md is read all the same,
  // because the folder is named besides (with CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD).
  const settings = "--setting-sources user --strict-mcp-config";
  return [
    CLAUDE,
    ...`-p ${lines} ${telling} ${asking} --disallowedTools ${WITHHELD} ${settings}`.split(" "),
    "--add-dir",
    cwd,
    BEGIN,
    conversation,
  ];
}

/** The same command for a conversation that was begun before. */
export const resumeCommand = (command: readonly string[]): string[] =>
  command.map((word) => (word === BEGIN ? "--resume" : word));

/** What the dialogue relies on. */
export const CLAUDE_ENV: Readonly<Record<string, string>> = {
  /** Tells when a turn is really over: a turn may have several results. */
  CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS: "1",
  CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: "1",
};

export const CLAUDE_DEFAULTS: Readonly<Record<string, string>> = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  DISABLE_AUTOUPDATER: "1",
  /** Two quick tries of its own; after that the run's back-off decides, which knows about all sessions. */
  CLAUDE_CODE_MAX_RETRIES: "2",
  /** How long a request may stay without any answer. */
  API_TIMEOUT_MS: "300000",
};

/** Who pays, whom to ask, and the way there. */
export const CLAUDE_PASSED_ENV: readonly string[] = `
  ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN ANTHROPIC_BASE_URL ANTHROPIC_CUSTOM_HEADERS CLAUDE_CODE_OAUTH_TOKEN
  ANTHROPIC_MODEL ANTHROPIC_SMALL_FAST_MODEL
  ANTHROPIC_DEFAULT_OPUS_MODEL ANTHROPIC_DEFAULT_SONNET_MODEL ANTHROPIC_DEFAULT_HAIKU_MODEL
  HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy
  NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR
  CLAUDE_CODE_CLIENT_CERT CLAUDE_CODE_CLIENT_KEY CLAUDE_CODE_CLIENT_KEY_PASSPHRASE
  CLAUDE_CODE_USE_BEDROCK CLAUDE_CODE_SKIP_BEDROCK_AUTH ANTHROPIC_BEDROCK_BASE_URL
  AWS_REGION AWS_DEFAULT_REGION AWS_PROFILE AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE
  AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_BEARER_TOKEN_BEDROCK
  CLAUDE_CODE_USE_VERTEX CLAUDE_CODE_SKIP_VERTEX_AUTH ANTHROPIC_VERTEX_BASE_URL
  ANTHROPIC_VERTEX_PROJECT_ID CLOUD_ML_REGION GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_PROJECT
`
  .trim()
  .split(/\s+/);

/** A UUID that follows from a name: whoever knows the session knows its conversation. */
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
