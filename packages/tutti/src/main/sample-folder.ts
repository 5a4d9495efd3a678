import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SAMPLE_PROJECT } from "./sample-project.ts";
import { makeRepository } from "../workspace/sample.ts";

export interface SampleFolder {
  folder: string;
  dataDir: string;
  cwd: string;
}

/** Removes both folders afterwards. */
export async function withSampleFolder<T>(prefix: string, work: (sample: SampleFolder) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  const dataDir = join(folder, "data");
  const cwd = join(folder, "corner-bookshop");
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  // An interrupted command that does not end in time exits without `finally`, so `remove` is also an exit handler.
  process.once("exit", remove);
  try {
    await makeRepository(cwd, SAMPLE_PROJECT);
    mkdirSync(dataDir, { mode: 0o700 });
    return await work({ folder, dataDir, cwd });
  } finally {
    process.off("exit", remove);
    remove();
  }
}
