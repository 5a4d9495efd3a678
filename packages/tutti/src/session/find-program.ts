import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { TuttiError } from "../schema/error.ts";

/** Searches the PATH; a name with a slash is relative to `cwd`. Throws `agent_not_startable`. */
export function findProgram(program: string, cwd: string): string {
  const candidates = program.includes("/")
    ? [isAbsolute(program) ? program : join(cwd, program)]
    : (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, program));
  const found = candidates.find(isExecutable);
  if (found) return found;
  throw new TuttiError(
    "agent_not_startable",
    `The agent's program ${JSON.stringify(program)} does not exist or is not executable. Install it, or add its folder to PATH.`,
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
