// Programs of ours that run as processes of their own: from source while developing, compiled when installed.
import { fileURLToPath } from "node:url";
import type { Launch } from "./driver.ts";

/** The file of a program that lies beside the calling module, named without its extension. */
export function ownProgram(name: string, from: string): string {
  return fileURLToPath(new URL(`./${name}${from.endsWith(".ts") ? ".ts" : ".js"}`, from));
}

/** An agent that is a program of ours; it shares what Node has compiled of our sources, where that is kept. */
export function ownLaunch(name: string, from: string, ...args: string[]): Launch {
  const command = [process.execPath, ownProgram(name, from), ...args];
  return { mode: "stream", command, passEnv: ["NODE_COMPILE_CACHE"] };
}
