// `acp:PROGRAM ARGS…`: any program with the Agent Client Protocol on stdin and stdout; one process per session.
import { claudePassedEnv } from "./claude/command.ts";
import { words } from "./command.ts";
import type { DialogueDriver } from "../driver.ts";
import { findProgram } from "../find-program.ts";
import { loginOf } from "../sandbox/login-paths.ts";

const FOR_ALL = /^(XDG_\w+|(HTTPS?|NO|ALL)_PROXY|NODE_EXTRA_CA_CERTS)$/i;

/** `OF_AGENT` has the variables of known agents, by a word of their command. Only the user knows other providers. */
const OF_AGENT: readonly [program: RegExp, isPassed: (name: string, env: NodeJS.ProcessEnv) => boolean][] = [
  [/gemini/i, (name) => /^(GEMINI|GOOGLE)_\w+$/.test(name)],
  [/claude/i, (name, env) => name === "CLAUDE_CONFIG_DIR" || claudePassedEnv(env).includes(name)],
  [/codex/i, (name) => /^(OPENAI_\w+|CODEX_HOME|CODEX_API_KEY)$/.test(name)],
];

export const acpDriver: DialogueDriver = {
  dialogue: "acp",
  check: (rest, cwd) => void findProgram(words(rest)[0]!, cwd),
  launch: (rest, _spec, _folder, env) => {
    const command = words(rest);
    const known = OF_AGENT.filter(([program]) => command.some((word) => program.test(word)));
    const isPassed = (name: string): boolean =>
      FOR_ALL.test(name) || known.some(([, isOfAgent]) => isOfAgent(name, env));
    return { mode: "stream", command, passEnv: Object.keys(env).filter(isPassed), access: loginOf(command, env) };
  },
};
