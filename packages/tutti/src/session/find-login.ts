// Signs that an agent is logged in: a variable, or a file that it keeps. Nobody is asked, no model is called, and no
// secret leaves this file: what is returned are names, modes and times.
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { TestedProgramName } from "./tested-versions.ts";

export type Login =
  | { type: "variable"; name: string }
  | {
      type: "file";
      file: string;
      mode: number;
      /** The variable that says where the file is, if it is not in its usual place. */
      placedBy: string | null;
      /** When it expires, if the file says so plainly and holds nothing to renew it with. */
      expiresAt: number | null;
    };

interface Places {
  variables: readonly string[];
  /** The variable that names the folder, the folder under the home folder, and the file in it. */
  folderVariable: string | null;
  folder: string;
  file: string;
  expiry: (content: Content) => number | null;
}

type Content = Readonly<Record<string, unknown>>;

const PLACES: Readonly<Record<TestedProgramName, Places>> = {
  claude: {
    variables: ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"],
    folderVariable: "CLAUDE_CONFIG_DIR",
    folder: ".claude",
    file: ".credentials.json",
    expiry: ({ claudeAiOauth }) => expiryOf(claudeAiOauth, "expiresAt", "refreshToken"),
  },
  codex: {
    variables: ["OPENAI_API_KEY", "CODEX_API_KEY"],
    folderVariable: "CODEX_HOME",
    folder: ".codex",
    file: "auth.json",
    // Only its tokens hold a time, and they are not ours to open.
    expiry: () => null,
  },
  gemini: {
    variables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    folderVariable: null,
    folder: ".gemini",
    file: "oauth_creds.json",
    expiry: (content) => expiryOf(content, "expiry_date", "refresh_token"),
  },
};

/** The first sign of a login, or null. */
export function findLogin(program: TestedProgramName): Login | null {
  const places = PLACES[program];
  const name = places.variables.find((each) => Boolean(process.env[each]));
  return name === undefined ? findFile(places) : { type: "variable", name };
}

function findFile({ folderVariable, folder, file: name, expiry }: Places): Login | null {
  const given = folderVariable === null ? undefined : process.env[folderVariable];
  const file = join(given ? given : join(homedir(), folder), name);
  try {
    const { mode, size } = statSync(file);
    if (size === 0) return null;
    const expiresAt = expiry(readObject(file));
    return { type: "file", file, mode: mode & 0o777, placedBy: given ? folderVariable : null, expiresAt };
  } catch {
    return null;
  }
}

/** What cannot be read as an object tells nothing; that the file is there is still a sign. */
function readObject(file: string): Content {
  try {
    const value: unknown = JSON.parse(readFileSync(file, "utf8"));
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function expiryOf(value: unknown, time: string, renewal: string): number | null {
  if (!isObject(value) || value[renewal]) return null;
  const at = value[time];
  return typeof at === "number" ? at : null;
}

const isObject = (value: unknown): value is Content => typeof value === "object" && value !== null;
