// One configuration folder per session. Claude Code writes into it all the time, and sessions that shared one have been
// seen to spoil it for each other and for the person. What the person has set up still counts:
//
// - The login stays where it is, and the program is told where that is. Its tokens are renewed now and then and each
//   renewal makes the ones before it void, so a copy would log the person out. So would a link: the program puts a new
//   file in its place. Sessions that have the one place in common have been seen to renew it one at a time.
// - Settings are a copy, so that no session writes into the person's own.
// - Instructions, skills and agents of the person are links; sessions only read them.
// - Of the state file only what belongs to the login is taken over. Its MCP servers are not: they would be started once
//   more for every session.
import { copyFileSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const LINKED = ["CLAUDE.md", "skills", "agents", "commands"];
const COPIED = ["settings.json"];
const STATE = ".claude.json";
const STATE_MEMBERS = ["oauthAccount", "primaryApiKey", "customApiKeyResponses"];

/** Where the person's own configuration is; a folder that is named for the agents is where it is taken from. */
const ownFolder = (env: NodeJS.ProcessEnv): string => env["CLAUDE_CONFIG_DIR"] || join(homeOf(env), ".claude");

const homeOf = (env: NodeJS.ProcessEnv): string => env["HOME"] || homedir();

/** Makes the folder, once. What is there already is left alone: the session may have changed it. */
export function makeConfigFolder(folder: string, env: NodeJS.ProcessEnv): void {
  const own = ownFolder(env);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const name of LINKED)
    once(() => existsSync(join(own, name)) && symlinkSync(join(own, name), join(folder, name)));
  for (const name of COPIED) once(() => copyOnce(join(own, name), join(folder, name)));
  // Without a folder of their choice it lies beside the usual one, not in it.
  const state = readState(join(env["CLAUDE_CONFIG_DIR"] || homeOf(env), STATE));
  once(() => writeFileSync(join(folder, STATE), JSON.stringify(state), { flag: "wx", mode: 0o600 }));
}

/** The variables that make the program use such a folder, and the person's login. */
export const configEnv = (folder: string, env: NodeJS.ProcessEnv): Record<string, string> => ({
  CLAUDE_CONFIG_DIR: folder,
  CLAUDE_SECURESTORAGE_CONFIG_DIR: env["CLAUDE_SECURESTORAGE_CONFIG_DIR"] || ownFolder(env),
});

function copyOnce(from: string, to: string): void {
  if (existsSync(from) && !existsSync(to)) copyFileSync(from, to);
}

function readState(file: string): Record<string, unknown> {
  try {
    const state = JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
    return Object.fromEntries(STATE_MEMBERS.flatMap((name) => (name in state ? [[name, state[name]]] : [])));
  } catch {
    // Nobody has used it here yet, or it is not ours to understand.
    return {};
  }
}

/** An engine that adopts a session comes here again. */
function once(make: () => unknown): void {
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}
