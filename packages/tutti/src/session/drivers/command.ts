// `command:PROGRAM ARGS…`: any program with JSON lines on stdin and stdout; one process per session.
import { JSON_LINES } from "./json-lines.ts";
import type { CodingDriver } from "../driver.ts";
import { findProgram } from "../find-program.ts";
import { loginOf } from "../sandbox/login-paths.ts";
import { splitCommand } from "../split-command.ts";
import { TuttiError } from "../../schema/error.ts";

export const commandDriver: CodingDriver = {
  check: (rest, cwd) => void findProgram(words(rest)[0]!, cwd),
  launch: (rest, _spec, _folder, env) => {
    const command = words(rest);
    return { mode: "stream", command, access: loginOf(command, env) };
  },
  coding: JSON_LINES,
};

export function words(rest: string): string[] {
  const command = splitCommand(rest);
  if (command.length > 0) return command;
  throw new TuttiError("agent_unknown", "The agent has no program. Name one after the colon, e.g. command:my-agent.");
}
