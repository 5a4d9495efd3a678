// How far each target has been told, in a file of the data folder. Whoever writes it holds the lock of that folder.
import { readFileSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { z } from "zod";
import { asDiskError, syncFolder, writeDurably } from "../durable-file.ts";

const Told = z.strictObject({ told: z.record(z.string(), z.number().int().nonnegative()) });

/** By the target's key: the last event whose telling is settled. Null if there is a file and it cannot be read. */
export function readTold(file: string): Readonly<Record<string, number>> | null {
  try {
    return Told.parse(JSON.parse(readFileSync(file, "utf8"))).told;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? {} : null;
  }
}

/** At once and durably: after a power cut the whole old or the whole new file is there. */
export function writeTold(file: string, told: Readonly<Record<string, number>>): void {
  const beside = `${file}.next`;
  try {
    rmSync(beside, { force: true });
    writeDurably(beside, `${JSON.stringify({ told }, null, 2)}\n`, 0o600);
    renameSync(beside, file);
    syncFolder(dirname(file));
  } catch (error) {
    throw asDiskError(error, `${file} cannot be written`);
  }
}
