// The environment in which a real agent program can reach only the scripted model.
//
// 1. All its files lie below the test's folder, including TMPDIR: Codex refuses to put its sandbox helpers into a home
//    below the system's temporary folder.
// 2. It inherits only the path and the language from the user's environment: no key, no settings.
// 3. It retries once only, so that a test of an error does not wait for minutes.
import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { agentProgram } from "../../../../../scripts/agents.mjs";
import type { ModelEndpoint } from "./model-endpoint.ts";

export type AgentName = "claude" | "codex" | "gemini" | "claude-agent-acp" | "codex-acp";

/** Also creates the folders and settings that the program needs, and puts the program on the `PATH`. */
export function agentEnv(
  name: AgentName,
  endpoint: Pick<ModelEndpoint, "url">,
  folder: string,
): Record<string, string> {
  const home = join(folder, "home");
  const temporary = join(folder, "tmp");
  for (const path of [home, temporary]) mkdirSync(path, { recursive: true });
  const common = {
    PATH: [dirname(agentProgram(name)), dirname(process.execPath), process.env["PATH"] ?? ""].join(delimiter),
    LANG: process.env["LANG"] ?? "C.UTF-8",
    HOME: home,
    TMPDIR: temporary,
    // Some containers set `IS_SANDBOX`. Claude's ACP adapter then requests no permissions, and fails as root.
    IS_SANDBOX: "",
  };
  switch (name) {
    case "claude":
    case "claude-agent-acp":
      return { ...common, ...claudeEnv(endpoint.url, home) };
    case "codex":
    case "codex-acp":
      return { ...common, ...codexEnv(endpoint.url, home) };
    case "gemini":
      return { ...common, ...geminiEnv(endpoint.url, home) };
  }
}

function claudeEnv(url: string, home: string): Record<string, string> {
  const settings = join(home, ".claude");
  mkdirSync(settings, { recursive: true });
  return {
    CLAUDE_CONFIG_DIR: settings,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "scripted",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "1",
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
  };
}

function codexEnv(url: string, home: string): Record<string, string> {
  const settings = join(home, ".codex");
  mkdirSync(settings, { recursive: true });
  // A model that the program knows; for an unknown one it offers fewer tools.
  const lines = [
    'model = "gpt-5.5"',
    'model_provider = "scripted"',
    "check_for_update_on_startup = false",
    "[analytics]",
    "enabled = false",
    "[model_providers.scripted]",
    'name = "scripted"',
    `base_url = "${url}/v1"`,
    'env_key = "SCRIPTED_API_KEY"',
    'wire_api = "responses"',
    "request_max_retries = 1",
    "stream_max_retries = 1",
  ];
  writeFileSync(join(settings, "config.toml"), `${lines.join("\n")}\n`);
  return { CODEX_HOME: settings, SCRIPTED_API_KEY: "scripted" };
}

function geminiEnv(url: string, home: string): Record<string, string> {
  const settings = join(home, ".gemini");
  mkdirSync(settings, { recursive: true });
  const contents = {
    general: { disableAutoUpdate: true, enableAutoUpdate: false, maxAttempts: 2 },
    privacy: { usageStatisticsEnabled: false },
    security: { auth: { selectedType: "gemini-api-key" } },
    telemetry: { enabled: false },
  };
  writeFileSync(join(settings, "settings.json"), `${JSON.stringify(contents, null, 2)}\n`);
  return { GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: "scripted" };
}

/** The same environment as flags of `tutti run`, which passes agents almost nothing of its own. */
export const agentEnvFlags = (env: Record<string, string>): string[] =>
  Object.entries(env).flatMap(([name, value]) => ["--agent-env", `${name}=${value}`]);
