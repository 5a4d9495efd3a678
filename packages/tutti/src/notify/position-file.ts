// `writePositions` keeps the position of each target in the data folder. The caller holds the lock of that folder.
import { readFileSync } from "node:fs";
import { open, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { asDiskError } from "../durable-file.ts";

/** `told` is a member of the file format. */
const Content = z.strictObject({ told: z.record(z.string(), z.number().int().nonnegative()) });

/** Maps each target key to the `seq` of its last settled event. Null if the file exists and cannot be read. */
export function readPositions(file: string): Readonly<Record<string, number>> | null {
  try {
    return Content.parse(JSON.parse(readFileSync(file, "utf8"))).told;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? {} : null;
  }
}

/**
 * Atomic and durable: after a power cut `file` is either the old or the new one. It is written after every delivery, so
 * the write is asynchronous and does not block the event loop. Calls must not overlap, because they share `next`.
 */
export async function writePositions(file: string, positions: Readonly<Record<string, number>>): Promise<void> {
  const next = `${file}.next`;
  try {
    await rm(next, { force: true });
    await writeFile(next, `${JSON.stringify({ told: positions }, null, 2)}\n`, {
      flag: "wx",
      mode: 0o600,
      flush: true,
    });
    await rename(next, file);
    await syncFolder(dirname(file));
  } catch (error) {
    throw asDiskError(error, `${file} cannot be written`);
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
