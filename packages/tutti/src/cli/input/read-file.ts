import { openSync, readFileSync } from "node:fs";
import { ReadStream } from "node:tty";
import { isStdinTerminal, openStdin } from "../terminal/stdin.ts";
import { TuttiError } from "../../schema/error.ts";

/** Reads stdin if `name` is `-`. Does not block meanwhile: a signal ends the command while its input is still open. */
export async function readBytes(name: string): Promise<Buffer> {
  if (name !== "-") return readFileSync(name);
  // The end of the input destroys its stream, and the command may ask the user on the terminal later.
  const source = isStdinTerminal() ? new ReadStream(openSync("/dev/tty", "r")) : openStdin();
  const chunks: Buffer[] = [];
  for await (const chunk of source) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

export async function readFile(name: string): Promise<string> {
  try {
    return (await readBytes(name)).toString("utf8");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new TuttiError("item_not_found", `File "${name}" does not exist. Check the path.`);
    }
    if (code === "EISDIR") throw new TuttiError("usage", `"${name}" is a folder. Name a file.`);
    throw new TuttiError("storage_failed", `"${name}" cannot be read: ${message}. Check its permissions.`, {
      cause: error,
    });
  }
}
