import { programFile } from "../../own-files.ts";
import type { Launch } from "../driver.ts";

/** Launches an agent that is part of Tutti. It shares the compile cache, because it loads the same sources. */
export function ownLaunch(name: string, ...args: string[]): Launch {
  return launchProgram([programFile(name), ...args]);
}

/** `args` are the arguments of Node: its options, the file, and the arguments of the program. */
export function launchProgram(args: readonly string[]): Launch {
  return { mode: "stream", command: [process.execPath, ...args], passEnv: ["NODE_COMPILE_CACHE"] };
}
