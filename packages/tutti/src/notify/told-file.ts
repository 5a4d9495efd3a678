// How far each target has been told, in a file of the data folder. Whoever writes it holds the lock of that folder.
import { readFileSync } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { asDiskError } from "../durable-file.ts";

const Told = z.strictObject({ told: z.record(z.string(), z.number().int().nonnegative()) });

/** By the target's key: the last event whose telling is settled. Null if there is a file and it cannot be read. */
export function readTold(file: string): Readonly<Record<string, number>> | null {
  try {
    return Told.parse(JSON.parse(readFileSync(file, "utf8"))).told;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? {} : null;
  }
}

/**
 * At once and durably: after a power cut the whole old or the whole new file is there. It is written after every telling,
 * so nobody else waits for the disk meanwhile. Not to be called again before it is done.
 */
export async function writeTold(file: string, told: Readonly<Record<string, number>>): Promise<void> {
  const beside = `${file}.next`;
  try {
    await rm(beside, { force: true });
    await writeFile(beside, `${JSON.stringify({ told }, null, 2)}\n`, { flag: "wx", mode: 0o600, flush: true });
    await rename(beside, file);
    await syncFolder(dirname(file));
  } catch (error) {
    throw asDiskError(error, `${file} cannot be written`);
  }
}

/** Systems that cannot open a folder need no such thing. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
