// Programs of ours that run as processes of their own: from source while developing, compiled when installed.
import { fileURLToPath } from "node:url";

/** The file of a program that lies beside the calling module, named without its extension. */
export function ownProgram(name: string, from: string): string {
  return fileURLToPath(new URL(`./${name}${from.endsWith(".ts") ? ".ts" : ".js"}`, from));
}
