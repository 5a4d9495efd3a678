import { fileURLToPath } from "node:url";
import type { Launch } from "../driver.ts";

/** The file of a program next to the module `from`: `.ts` when run from source, `.js` when compiled. */
export function ownProgram(name: string, from: string): string {
  return fileURLToPath(new URL(`./${name}${from.endsWith(".ts") ? ".ts" : ".js"}`, from));
}

/** Launches an agent that is part of Tutti. It shares the compile cache, because it loads the same sources. */
export function ownLaunch(name: string, from: string, ...args: string[]): Launch {
  const command = [process.execPath, ownProgram(name, from), ...args];
  return { mode: "stream", command, passEnv: ["NODE_COMPILE_CACHE"] };
}
