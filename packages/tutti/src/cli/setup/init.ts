// Writes `FILES` into a project. Never overwrites one.
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Output } from "../terminal/output.ts";
import { TuttiError } from "../../schema/error.ts";

const FILES: Record<string, object> = {
  "tutti.config.json": {
    agent: "local",
    template: "example",
    maxWorkers: 4,
    agents: {},
  },
  ".tutti/templates/example.json": {
    id: "example",
    name: "Example",
    description:
      "Settings for runs on this project. Change them as you like, and try them with: tutti rehearse example",
    extends: "documentation",
    config: { workerTimeout: 600_000 },
  },
};

export async function init(output: Output, dir: string | undefined): Promise<number> {
  const folder = resolve(dir ?? ".");
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new TuttiError("usage", `"${folder}" is a file, not a folder. Name a folder.`);
  }
  const written: string[] = [];
  const existing: string[] = [];
  for (const [name, content] of Object.entries(FILES)) {
    (writeNew(join(folder, name), content) ? written : existing).push(name);
  }
  output.value({ folder, written, kept: existing });
  for (const name of written) output.result(`wrote ${join(folder, name)}`);
  for (const name of existing) output.result(`kept ${join(folder, name)}, which already exists`);
  if (written.length > 0) output.line('Next: tutti rehearse example, then tutti run "YOUR REQUEST"');
  return 0;
}

/** Returns false if the file exists. The flag `wx` also protects a file that appears at the same moment. */
function writeNew(file: string, content: object): boolean {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new TuttiError(
      "storage_failed",
      `"${file}" cannot be written: ${(error as Error).message}. Check the path.`,
      { cause: error },
    );
  }
}
