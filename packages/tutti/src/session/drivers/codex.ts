// `codex`: the Codex program on the PATH, with the user's own login.
import { join } from "node:path";
import { CODEX, CODEX_PASSED_ENV, codexCommand } from "./codex/command.ts";
import { makeHomeFolder } from "./codex/home-folder.ts";
import { JsonLinesDecoder } from "./json-lines.ts";
import type { Driver } from "../driver.ts";
import { findProgram } from "../find-program.ts";

export const codexDriver: Driver = {
  check: (_rest, cwd) => void findProgram(CODEX, cwd),
  launch: (_rest, _spec, folder, env) => {
    const home = makeHomeFolder(join(folder, "codex"), env);
    return {
      mode: "stream",
      dialogue: "codex",
      command: codexCommand(home, env),
      env: home.env,
      passEnv: [...CODEX_PASSED_ENV, ...home.keys],
    };
  },
  encodeTurn: ({ text }) => text,
  encodeAnswer: (_askId, text) => text,
  encodeInterrupt: () => "",
  decoder: () => new JsonLinesDecoder(),
};
