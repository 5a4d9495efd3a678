// The programs of others that Tutti drives, and the version of each that its tests drive. A program of the same major
// and minor version is expected to speak the same.
import { devNull } from "node:os";

export interface TestedProgram {
  /** The newest version that was tested. */
  version: string;
  /** The npm package that installs it. */
  npmPackage: string;
  /** How `--agent` names it. */
  agent: string;
  /** Keeps the program from writing into the person's own folders when it is only asked for its version, as seen. */
  askEnv: Readonly<Record<string, string>>;
}

export const TESTED_PROGRAMS = {
  claude: { version: "2.1.325", npmPackage: "@anthropic-ai/claude-code", agent: "claude", askEnv: {} },
  codex: { version: "0.166.0", npmPackage: "@openai/codex", agent: "codex", askEnv: { CODEX_HOME: devNull } },
  gemini: {
    version: "0.61.0",
    npmPackage: "@google/gemini-cli",
    agent: "acp:gemini --acp",
    askEnv: { GEMINI_CLI_HOME: devNull },
  },
} as const satisfies Record<string, TestedProgram>;

export type TestedProgramName = keyof typeof TESTED_PROGRAMS;

/** Major and minor version, which decide whether a version counts as tested. */
export const seriesOf = (version: string): string => version.split(".").slice(0, 2).join(".");
