// `tutti init`: a configuration and an example template for a project, beside whatever is there.
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Output } from "./output.ts";
import { TuttiError } from "../schema/error.ts";

/** What is written, by its path in the project. */
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
      "How runs on this project are carried out. Change what you like; tutti rehearse example shows its course.",
    extends: "documentation",
    config: { workerTimeout: 600_000 },
  },
};

export async function init(output: Output, dir: string | undefined): Promise<number> {
  const folder = resolve(dir ?? ".");
  if (existsSync(folder) && !statSync(folder).isDirectory()) {
    throw new TuttiError("usage", `${folder} is not a folder`);
  }
  const written: string[] = [];
  const kept: string[] = [];
  for (const [name, content] of Object.entries(FILES)) {
    (writeNew(join(folder, name), content) ? written : kept).push(name);
  }
  output.value({ folder, written, kept });
  for (const name of written) output.result(`wrote ${join(folder, name)}`);
  for (const name of kept) output.result(`left ${join(folder, name)} as it is`);
  if (written.length > 0) output.line('next: tutti rehearse example, then tutti run "WHAT IS TO BE DONE"');
  return 0;
}

/** Never over something that is there, also if it comes in this moment. */
function writeNew(file: string, content: object): boolean {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new TuttiError("storage_failed", `${file} cannot be written: ${(error as Error).message}`, { cause: error });
  }
}
