// `claudeDriver` runs the Claude Code program on the PATH, with the user's own login.
import { join } from "node:path";
import {
  CLAUDE,
  CLAUDE_DEFAULTS,
  CLAUDE_ENV,
  claudeCommand,
  claudePassedEnv,
  resumeCommand,
  uuidOf,
} from "./claude/command.ts";
import { configEnv, makeConfigFolder } from "./claude/config-folder.ts";
import type { DialogueDriver } from "../driver.ts";
import { findProgram } from "../find-program.ts";
import type { SandboxPaths } from "../../schema/agent/sandbox.ts";
import { claudeLogin } from "../sandbox/login-paths.ts";

export const claudeDriver: DialogueDriver = {
  dialogue: "claude",
  resume: resumeCommand,
  check: (_rest, cwd) => void findProgram(CLAUDE, cwd),
  ownEnv: Object.keys(CLAUDE_ENV),
  launch: (_rest, { sessionId, cwd, model }, folder, env) => {
    const config = join(folder, "claude");
    makeConfigFolder(config, env);
    return {
      mode: "stream",
      command: claudeCommand(uuidOf(sessionId), cwd, model),
      env: { ...CLAUDE_ENV, ...configEnv(config, env) },
      defaults: CLAUDE_DEFAULTS,
      passEnv: claudePassedEnv(env),
      access: claudeAccess(config, env),
    };
  },
};

function claudeAccess(config: string, env: NodeJS.ProcessEnv): SandboxPaths {
  const { writable = [], ...login } = claudeLogin(env);
  return { ...login, writable: [config, ...writable] };
}
