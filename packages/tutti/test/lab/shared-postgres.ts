// Vitest's global set-up: names the folder of the cluster that tests share, and ends the cluster after the last test.
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { endShared } from "./postgres.ts";

export function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), "tutti-pg-"));
  process.env["TUTTI_TEST_POSTGRES"] = folder;
  return () => endShared(folder);
}
