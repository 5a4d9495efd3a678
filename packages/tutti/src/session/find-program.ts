// Whether a program can be started at all, asked before a run is made of it.
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { TuttiError } from "../schema/error.ts";

/** Where the program is; fails with agent_not_startable. A name with a slash is looked for from the session's folder. */
export function findProgram(program: string, cwd: string): string {
  const candidates = program.includes("/")
    ? [isAbsolute(program) ? program : join(cwd, program)]
    : (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program));
  const found = candidates.find(isExecutable);
  if (found) return found;
  throw new TuttiError(
    "agent_not_startable",
    `the program ${program} of the agent cannot be found or may not be executed`,
  );
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
