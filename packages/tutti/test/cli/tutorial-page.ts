// The commands and programs of docs/tutorial.md, and a shell for them in which `tutti` is the command line of this clone.
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Lab } from "../lab/lab.ts";

export const PAGE = new URL("../../../../docs/tutorial.md", import.meta.url);
const LAUNCHER = fileURLToPath(new URL("../../bin/tutti.js", import.meta.url));

/** All blocks of a language, in the order of the page. */
export function blocksOf(language: "sh" | "js" | "python"): string[] {
  const text = readFileSync(PAGE, "utf8");
  return Array.from(text.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, "gm")), ([, block]) => block!);
}

/** Runs the commands in `folder`, and fails with their output if one fails. */
export async function runCommands(lab: Lab, folder: string, commands: string, env: Record<string, string> = {}) {
  const bin = join(lab.folder, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "tutti"), `#!/bin/sh\nexec "${process.execPath}" "${LAUNCHER}" "$@"\n`, { mode: 0o755 });
  return promisify(execFile)("bash", ["-ec", commands], {
    cwd: folder,
    env: {
      ...process.env,
      ...env,
      PATH: `${bin}${delimiter}${env["PATH"] ?? process.env["PATH"]}`,
      TUTTI_DATA_DIR: lab.data,
      GIT_AUTHOR_NAME: "A Person",
      GIT_AUTHOR_EMAIL: "person@example.org",
      GIT_COMMITTER_NAME: "A Person",
      GIT_COMMITTER_EMAIL: "person@example.org",
    },
  });
}
