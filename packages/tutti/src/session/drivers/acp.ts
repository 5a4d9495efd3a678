// `acp:PROGRAM ARGS…`: any program with the Agent Client Protocol on stdin and stdout; one process per session.
import { words } from "./command.ts";
import type { DialogueDriver } from "../driver.ts";
import { findProgram } from "../find-program.ts";

/** Keys, URLs and folders of known ACP agents, and proxy settings. */
const PASSED =
  /^((GEMINI|GOOGLE|ANTHROPIC|OPENAI|XDG)_\w+|CLAUDE_CONFIG_DIR|CLAUDE_CODE_OAUTH_TOKEN|CODEX_HOME|CODEX_API_KEY|(HTTPS?|NO|ALL)_PROXY|NODE_EXTRA_CA_CERTS)$/i;

export const acpDriver: DialogueDriver = {
  dialogue: "acp",
  check: (rest, cwd) => void findProgram(words(rest)[0]!, cwd),
  launch: (rest) => ({
    mode: "stream",
    command: words(rest),
    passEnv: Object.keys(process.env).filter((name) => PASSED.test(name)),
  }),
};
