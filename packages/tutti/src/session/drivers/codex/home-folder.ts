// One home of Codex per session. It keeps conversations, logs and databases there, which sessions had better not share
// with each other or with the person. What the person has set up still counts:
//
// - The login is a link. Its tokens are renewed now and then, and the old ones are void from then on: a copy would go
//   stale or, worse, make the person's own stale. Codex writes through the link, and finds there what another one has
//   renewed.
// - The configuration is a copy, because Codex writes into it.
// - Instructions and skills of the person are links; sessions only read them.
// - The person's rules for commands are left out: what may be run is said by the run's own settings.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import type { CodexSetting } from "./command.ts";

const LOGIN = "auth.json";
const CONFIG = "config.toml";
const LINKED = [LOGIN, "AGENTS.md", "AGENTS.override.md", "prompts"];
const SKILLS = "skills";

export interface HomeFolder extends CodexSetting {
  /** What its variables have to be. */
  env: Record<string, string>;
  /** Variables that hold keys, according to the configuration. */
  keys: string[];
}

/** Makes the folder, once. What is there already is left alone: the session may have changed it. */
export function makeHomeFolder(folder: string, given: NodeJS.ProcessEnv): HomeFolder {
  // A home that is named for the agents is where theirs are made from.
  const own = given["CODEX_HOME"] || join(given["HOME"] || homedir(), ".codex");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // Codex puts skills of its own beside those of the person, under a name with a dot.
  mkdirSync(join(folder, SKILLS), { recursive: true });
  const skills = existsSync(join(own, SKILLS)) ? readdirSync(join(own, SKILLS)) : [];
  const linked = [...LINKED, ...skills.filter((name) => !name.startsWith(".")).map((name) => join(SKILLS, name))];
  for (const name of linked.filter((each) => existsSync(join(own, each))))
    once(() => symlinkSync(join(own, name), join(folder, name)));
  const config = join(folder, CONFIG);
  if (existsSync(join(own, CONFIG)) && !existsSync(config)) copyFileSync(join(own, CONFIG), config);
  const text = existsSync(config) ? readFileSync(config, "utf8") : "";
  return {
    env: { CODEX_HOME: folder, ...temporaryFolder(folder, given["TMPDIR"] || tmpdir()) },
    hasLogin: existsSync(join(folder, LOGIN)),
    hasProvider: /^\s*model_provider\s*=(?!\s*["']openai["'])/m.test(text),
    servers: readServers(text),
    keys: readKeys(text),
  };
}

/** Codex puts the programs of its sandbox into its home, and refuses to where that is among the temporary files. */
function temporaryFolder(folder: string, usual: string): Record<string, string> {
  const from = relative(usual, folder);
  if (from.startsWith("..") || isAbsolute(from)) return {};
  const temporary = join(folder, "temporary");
  mkdirSync(temporary, { recursive: true, mode: 0o700 });
  return { TMPDIR: temporary };
}

/** `[mcp_servers.NAME]`. */
function readServers(config: string): string[] {
  const names = [...config.matchAll(/^\s*\[\s*mcp_servers\s*\.\s*([\w-]+)/gm)].map(([, name]) => name!);
  return [...new Set(names)];
}

/** `env_key = "NAME"`, and the names on the right of `env_http_headers = { "X-Name" = "NAME" }`. */
function readKeys(config: string): string[] {
  const keys = [...config.matchAll(/\benv_key\s*=\s*["'](\w+)["']/g)].map(([, name]) => name!);
  const tables = [...config.matchAll(/\benv_http_headers\s*=\s*\{([^}]*)\}/g)].map(([, members]) => members!);
  const headers = tables.flatMap((members) => [...members.matchAll(/=\s*["'](\w+)["']/g)].map(([, name]) => name!));
  return [...new Set([...keys, ...headers])];
}

/** An engine that adopts a session comes here again. */
function once(make: () => unknown): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
