import { mkdirSync } from "node:fs";
import { chmod, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SandboxSpec } from "./sandbox-command.ts";

/** `scratchFolder` has the temporary files and the home of an agent in the sandbox; part of the session folder. */
export const scratchFolder = (sessionFolder: string): string => join(sessionFolder, "scratch");

/** Creates the folders that the sandbox shows to the agent in the place of others. */
export function makeScratch({ mounts }: SandboxSpec): void {
  for (const mount of mounts) if (mount.kind === "from") mkdirSync(mount.source, { recursive: true, mode: 0o700 });
}

/** Removes folders that the agent has made read-only, too. */
export async function removeScratch(sessionFolder: string): Promise<void> {
  const folder = scratchFolder(sessionFolder);
  const remove = () => rm(folder, { recursive: true, force: true, maxRetries: 2 });
  await remove().catch(async () => {
    await makeWritable(folder);
    await remove();
  });
}

async function makeWritable(folder: string): Promise<void> {
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await makeWritable(join(folder, entry.name));
}
