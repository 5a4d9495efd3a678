// `makeHomeFolder` gives each session its own Codex home, because sessions must not share conversations, logs and
// databases with each other or with the user. The user's setup still applies:
//
// - The login is a link. A renewal invalidates the old tokens, so a copy would go stale or make the user's file stale.
//   Codex writes through the link and reads tokens that another session renewed.
// - The configuration is a copy, because Codex writes to it.
// - The user's instructions and skills are links; sessions only read them.
// - The user's command rules are left out: the run's permissions decide.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import type { CodexSetting } from "./command.ts";
import { ignoreExisting } from "../ignore-existing.ts";

const LOGIN = "auth.json";
const CONFIG = "config.toml";
const LINKED = [LOGIN, "AGENTS.md", "AGENTS.override.md", "prompts"];
const SKILLS = "skills";

interface HomeFolder extends CodexSetting {
  env: Record<string, string>;
  /** Variables that the configuration names as `env_key` of the chosen provider. */
  keys: string[];
}

/** `makeHomeFolder` never overwrites a file, because the session may have changed it. */
export function makeHomeFolder(folder: string, userEnv: NodeJS.ProcessEnv): HomeFolder {
  const source = userEnv["CODEX_HOME"] || join(userEnv["HOME"] || homedir(), ".codex");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Each skill is linked separately: Codex adds its own skills to the folder, in one with a name that starts with a
  // dot.
  mkdirSync(join(folder, SKILLS), { recursive: true });
  const skills = existsSync(join(source, SKILLS)) ? readdirSync(join(source, SKILLS)) : [];
  const linked = [...LINKED, ...skills.filter((name) => !name.startsWith(".")).map((name) => join(SKILLS, name))];
  for (const name of linked.filter((each) => existsSync(join(source, each))))
    ignoreExisting(() => symlinkSync(join(source, name), join(folder, name)));
  const config = join(folder, CONFIG);
  if (existsSync(join(source, CONFIG)) && !existsSync(config)) copyFileSync(join(source, CONFIG), config);
  const text = existsSync(config) ? readFileSync(config, "utf8") : "";
  return {
    env: { CODEX_HOME: folder, ...temporaryFolder(folder, userEnv["TMPDIR"] || tmpdir()) },
    hasLogin: existsSync(join(folder, LOGIN)),
    hasProvider: /^\s*model_provider\s*=(?!\s*["']openai["'])/m.test(text),
    servers: readServers(text),
    keys: readKeys(text),
  };
}

/** Codex refuses to keep its sandbox programs in a home below TMPDIR, so such a home gets a `temporary` folder. */
function temporaryFolder(folder: string, usual: string): Record<string, string> {
  const from = relative(usual, folder);
  if (from.startsWith("..") || isAbsolute(from)) return {};
  const temporary = join(folder, "temporary");
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  return { TMPDIR: temporary };
}

/** The names in `[mcp_servers.NAME]`. */
function readServers(config: string): string[] {
  const names = [...config.matchAll(/^\s*\[\s*mcp_servers\s*\.\s*([\w-]+)/gm)].map(([, name]) => name!);
  return [...new Set(names)];
}

/**
 * The names in `env_key = "NAME"` and in `env_http_headers = { "X-Name" = "NAME" }`. `readKeys` skips the tables of
 * providers that no `model_provider` chooses.
 */
function readKeys(text: string): string[] {
  const chosen = new Set([...text.matchAll(/^\s*model_provider\s*=\s*["']([^"']+)["']/gm)].map(([, name]) => name!));
  const config = text
    .split(/^(?=\s*\[)/m)
    .filter((table) => {
      const [, provider] = /^\s*\[\s*model_providers\s*\.\s*["']?([\w.-]+)/.exec(table) ?? [];
      return provider === undefined || [...chosen].some((name) => provider === name || provider.startsWith(`${name}.`));
    })
    .join("");
  const keys = [...config.matchAll(/\benv_key\s*=\s*["'](\w+)["']/g)].map(([, name]) => name!);
  const tables = [...config.matchAll(/\benv_http_headers\s*=\s*\{([^}]*)\}/g)].map(([, members]) => members!);
  const headers = tables.flatMap((members) => [...members.matchAll(/=\s*["'](\w+)["']/g)].map(([, name]) => name!));
  return [...new Set([...keys, ...headers])];
}
