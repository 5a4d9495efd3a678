// Puts the stub programs of ../lab/agents on the PATH.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { programOf } from "../lab/program-of.ts";

/** A PATH that contains the program under its usual name. `under` is a program that runs it. */
export function pathWith(name: "claude" | "codex", folder: string, under?: string): string {
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  const file = join(bin, name);
  const words = [...(under === undefined ? [] : [programOf(under), process.execPath]), programOf(`${name}.ts`)];
  const quoted = [process.execPath, ...words].map((word) => `'${word}'`).join(" ");
  writeFileSync(file, `#!/bin/sh\nexec ${quoted} "$@"\n`);
  chmodSync(file, 0o755);
  return [bin, process.env["PATH"] ?? ""].join(delimiter);
}
