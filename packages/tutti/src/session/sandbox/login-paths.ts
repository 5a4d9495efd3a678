// `loginOf` lists the files of a known agent program in the user's home: its login, which a renewal writes, and the
// user's settings and instructions, which are read-only. Everything else of the home stays hidden, with the logins of
// other programs.
import { existsSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";
import type { SandboxPaths } from "../../schema/agent/sandbox.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export const homeOf = (env: Environment): string => env["HOME"] || homedir();

/** `OF_CLAUDE` are settings and instructions. Some of them name programs, so no session may change them. */
const OF_CLAUDE = [
  "settings.json",
  "settings.local.json",
  "CLAUDE.md",
  "skills",
  "agents",
  "commands",
  "plugins",
].concat(["hooks", "output-styles", "rules"]);
const CLAUDE_LOGIN = ".credentials.json";

/**
 * Claude Code replaces the file of its login, so the whole folder must be writable. All that is there already is read-only
 * or hidden, except for the login itself. With `isShared` the program has no folder of its own, so nothing is hidden.
 */
export function claudeLogin(env: Environment, { isShared = false } = {}): SandboxPaths {
  const folder = env["CLAUDE_SECURESTORAGE_CONFIG_DIR"] || env["CLAUDE_CONFIG_DIR"] || join(homeOf(env), ".claude");
  const readable = [...OF_CLAUDE.map((name) => join(folder, name)), ...cloudLogins(env)];
  if (isShared) return { readable, writable: [folder, join(homeOf(env), ".claude.json")] };
  if (!existsSync(join(folder, CLAUDE_LOGIN))) return { readable };
  const others = readdirSync(folder).filter((name) => !OF_CLAUDE.includes(name) && !/^\.credentials|lock$/.test(name));
  return { readable, writable: [folder], hidden: others.map((name) => join(folder, name)) };
}

/** With these variables the program uses the login of a cloud provider. */
function cloudLogins(env: Environment): string[] {
  const isOn = (name: string): boolean => !["", "0", "false"].includes(env[name] ?? "");
  return [
    ...(isOn("CLAUDE_CODE_USE_BEDROCK") ? [".aws"] : []),
    ...(isOn("CLAUDE_CODE_USE_VERTEX") ? [".config/gcloud"] : []),
  ].map((name) => join(homeOf(env), name));
}

/** Codex writes to the file of its login, which stays the same file. */
export function codexLogin(env: Environment): SandboxPaths {
  const folder = env["CODEX_HOME"] || join(homeOf(env), ".codex");
  const readable = ["config.toml", "AGENTS.md", "AGENTS.override.md", "prompts", "skills"];
  return { readable: readable.map((name) => join(folder, name)), writable: [join(folder, "auth.json")] };
}

function geminiLogin(env: Environment): SandboxPaths {
  const folder = join(homeOf(env), ".gemini");
  const readable = ["settings.json", "GEMINI.md", "extensions", "trustedFolders.json", "installation_id", ".env"];
  return {
    readable: readable.map((name) => join(folder, name)),
    writable: ["oauth_creds.json", "google_accounts.json"].map((name) => join(folder, name)),
  };
}

const KNOWN: readonly [program: RegExp, login: (env: Environment) => SandboxPaths][] = [
  [/claude/i, (env) => claudeLogin(env, { isShared: true })],
  // A folder that the user has set in `CODEX_HOME` holds all files of the program.
  [/codex/i, (env) => (env["CODEX_HOME"] ? { writable: [env["CODEX_HOME"]] } : codexLogin(env))],
  [/gemini/i, geminiLogin],
];

/** Recognises a program by a word of its command. */
export function loginOf(command: readonly string[], env: Environment): SandboxPaths {
  const found = KNOWN.filter(([program]) => command.slice(0, 3).some((word) => program.test(basename(word))));
  const logins = found.map(([, login]) => login(env));
  const of = (kind: keyof SandboxPaths): string[] => logins.flatMap((login) => login[kind] ?? []);
  return { readable: of("readable"), writable: of("writable") };
}

/** `namedFiles` are files that variables of the agent's provider name, such as certificates and keys. */
export function namedFiles(names: readonly string[], env: Environment): string[] {
  return names.flatMap((name) => {
    const path = env[name] ?? "";
    return path.startsWith("/") && (FOLDERS.has(name) || isFile(path)) ? [path] : [];
  });
}

const FOLDERS: ReadonlySet<string> = new Set(["SSL_CERT_DIR", "NODE_COMPILE_CACHE"]);

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
