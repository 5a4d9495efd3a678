// `TESTED_PROGRAMS` are the external agent programs and the version of each that the tests drive. Versions with the
// same `seriesOf` are expected to be compatible.
import { devNull } from "node:os";

export interface TestedProgram {
  /** The newest tested version. */
  version: string;
  npmPackage: string;
  /** The value of `--agent`. */
  agent: string;
  /** `askEnv` prevents the program from writing to the user's folders when it runs with `--version`. */
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

export const seriesOf = (version: string): string => version.split(".").slice(0, 2).join(".");
