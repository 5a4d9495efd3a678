// Folders that are costly to create, such as repositories, created once for all test files.
import { chmodSync, existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let ownShared: string | null = null;

/** Outside Vitest, each process has a folder of its own until its end. */
function sharedFolder(): string {
  const named = process.env["TUTTI_TEST_SHARED"] ?? ownShared;
  if (named) return named;
  const folder = mkdtempSync(join(tmpdir(), "tutti-shared-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return (ownShared = folder);
}

/** Returns the folder `name`, which the first caller of all processes fills with `make`. Do not change it after that. */
export function sharedSample(name: string, make: (folder: string) => void): string {
  const folder = join(sharedFolder(), name);
  if (existsSync(folder)) return folder;
  const made = mkdtempSync(`${folder}-`);
  chmodSync(made, 0o755);
  make(made);
  try {
    renameSync(made, folder);
  } catch {
    // Another process was faster.
    rmSync(made, { recursive: true });
  }
  return folder;
}
