// `command:PROGRAM ARGS…`: any program that speaks JSON lines, one process per session.
import { encodeAnswer, encodeInterrupt, encodeUser, JsonLinesDecoder } from "./json-lines.ts";
import type { Driver } from "../driver.ts";
import { findProgram } from "../find-program.ts";
import { splitCommand } from "../split-command.ts";
import { TuttiError } from "../../schema/error.ts";

export const commandDriver: Driver = {
  check: (rest, cwd) => void findProgram(words(rest)[0]!, cwd),
  launch: (rest) => ({ mode: "stream", command: words(rest) }),
  encodeTurn: (turn) => encodeUser(turn),
  encodeAnswer,
  encodeInterrupt,
  decoder: () => new JsonLinesDecoder(),
};

export function words(rest: string): string[] {
  const found = splitCommand(rest);
  if (found.length === 0) throw new TuttiError("agent_unknown", "the agent names no program, e.g. command:my-agent");
  return found;
}
