// Detects whether an agent program is logged in, by a variable or by its credentials file. Makes no network request and
// returns no secret: a `Login` contains only names, modes and times.
import { readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { numberOf, parseRecord, recordOf, type Fields } from "./json-fields.ts";
import type { TestedProgramName } from "./tested-versions.ts";

export type Login =
  | { type: "variable"; name: string }
  | {
      type: "file";
      file: string;
      mode: number;
      /** The variable that set the file's folder; null for the default folder. */
      placedBy: string | null;
      /** In milliseconds since 1970. `expiresAt` is null if the file has no expiry or contains a token for renewal. */
      expiresAt: number | null;
    };

interface Places {
  variables: readonly string[];
  folderVariable: string | null;
  /** Relative to the home folder. */
  folder: string;
  file: string;
  expiry: (content: Fields) => number | null;
}

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
    // Only the tokens in the file contain an expiry, and Tutti does not decode them.
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

export function findLogin(program: TestedProgramName): Login | null {
  const places = PLACES[program];
  const name = places.variables.find((each) => Boolean(process.env[each]));
  return name === undefined ? findFile(places) : { type: "variable", name };
}

function findFile({ folderVariable, folder, file: name, expiry }: Places): Login | null {
  const override = folderVariable === null ? undefined : process.env[folderVariable];
  const file = join(override ? override : join(homedir(), folder), name);
  try {
    const { mode, size } = statSync(file);
    if (size === 0) return null;
    const expiresAt = expiry(readObject(file));
    return { type: "file", file, mode: mode & 0o777, placedBy: override ? folderVariable : null, expiresAt };
  } catch {
    return null;
  }
}

/** An unreadable file still counts as a `Login`, without an expiry. */
function readObject(file: string): Fields {
  try {
    return parseRecord(readFileSync(file, "utf8"));
  } catch {
    return {};
  }
}

function expiryOf(value: unknown, time: string, renewal: string): number | null {
  const login = recordOf(value);
  return login[renewal] ? null : numberOf(login[time]);
}
