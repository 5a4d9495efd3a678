// The programs of ../lab/agents that stand in for real ones on the path.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { programOf } from "../lab/lab.ts";

/** The path on which the program is found under its usual name. */
export function pathWith(name: "claude" | "codex", folder: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  const file = join(bin, name);
  writeFileSync(file, `#!/bin/sh\nexec '${process.execPath}' '${programOf(`${name}.ts`)}' "$@"\n`);
  chmodSync(file, 0o755);
  return [bin, process.env["PATH"] ?? ""].join(delimiter);
}
