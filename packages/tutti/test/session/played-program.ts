// Puts the stub programs of ../lab/agents on the PATH.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { programOf } from "../lab/lab.ts";

/** A PATH that contains the program under its usual name. */
export function pathWith(name: "claude" | "codex", folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  const file = join(bin, name);
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${programOf(`${name}.ts`)}' "$@"\n`);
  chmodSync(file, 0o755);
  return [bin, process.env["PATH"] ?? ""].join(delimiter);
}
