// Each session has its own configuration folder: Claude Code writes to it constantly, and sessions that shared one
// corrupted it for each other and for the user. The user's setup still applies:
//
// - The login stays in the user's folder, and CLAUDE_SECURESTORAGE_CONFIG_DIR points there. A renewal invalidates the
//   old tokens, so a copy would log the user out. So would a link, because the program replaces the file. Sessions with
//   a common folder renew the tokens one at a time.
// - Settings are copied, so that no session changes the user's.
// - The user's instructions, skills and agents are linked; sessions only read them.
// - Of the state file only the members of the login are copied. Its MCP servers would start once per session.
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ignoreExisting } from "../ignore-existing.ts";
import { homeOf } from "../../sandbox/login-paths.ts";

const LINKED = ["CLAUDE.md", "skills", "agents", "commands"];
const COPIED = ["settings.json"];
const STATE = ".claude.json";
const STATE_MEMBERS = ["oauthAccount", "primaryApiKey", "customApiKeyResponses"];

const userFolder = (env: NodeJS.ProcessEnv): string => env["CLAUDE_CONFIG_DIR"] || join(homeOf(env), ".claude");

/** `makeConfigFolder` never overwrites a file, because the session may have changed it. */
export function makeConfigFolder(folder: string, env: NodeJS.ProcessEnv): void {
  const source = userFolder(env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of LINKED)
    ignoreExisting(() => existsSync(join(source, name)) && symlinkSync(join(source, name), join(folder, name)));
  for (const name of COPIED) ignoreExisting(() => copyOnce(join(source, name), join(folder, name)));
  // Without CLAUDE_CONFIG_DIR the state file is in the home folder, next to `.claude`.
  const state = readState(join(env["CLAUDE_CONFIG_DIR"] || homeOf(env), STATE));
  ignoreExisting(() => writeFileSync(join(folder, STATE), JSON.stringify(state), { flag: "wx", mode: 0o600 }));
}

/** With `configEnv` the program uses `folder` and the user's login. */
export const configEnv = (folder: string, env: NodeJS.ProcessEnv): Record<string, string> => ({
  CLAUDE_CONFIG_DIR: folder,
  CLAUDE_SECURESTORAGE_CONFIG_DIR: env["CLAUDE_SECURESTORAGE_CONFIG_DIR"] || userFolder(env),
});

function copyOnce(from: string, to: string): void {
  if (existsSync(from) && !existsSync(to)) copyFileSync(from, to);
}

function readState(file: string): Record<string, unknown> {
  try {
    const state = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    return Object.fromEntries(STATE_MEMBERS.flatMap((name) => (name in state ? [[name, state[name]]] : [])));
  } catch {
    // The file is missing, or has an unknown format.
    return {};
  }
}
