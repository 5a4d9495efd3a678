// `codexDriver` runs the Codex program on the PATH, with the user's own login.
import { join } from "node:path";
import { CODEX, codexCommand, codexPassedEnv } from "./codex/command.ts";
import { makeHomeFolder } from "./codex/home-folder.ts";
import type { DialogueDriver } from "../driver.ts";
import { findProgram } from "../find-program.ts";
import { codexLogin } from "../sandbox/login-paths.ts";

export const codexDriver: DialogueDriver = {
  dialogue: "codex",
  resume: (command) => [...command],
  check: (_rest, cwd) => void findProgram(CODEX, cwd),
  launch: (_rest, _spec, folder, env) => {
    const own = join(folder, "codex");
    const home = makeHomeFolder(own, env);
    const { writable = [], ...login } = codexLogin(env);
    return {
      mode: "stream",
      command: codexCommand(home, env),
      env: home.env,
      passEnv: [...codexPassedEnv(home, env), ...home.keys],
      access: { ...login, writable: [own, ...writable] },
    };
  },
};
