// Real folders for user and project templates, removed after the test.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { TemplateLibrary, type LibraryOptions } from "../../src/template/files/library.ts";

type Raw = Record<string, unknown>;

export class TemplateLab {
  readonly root: string;
  readonly userFolder: string;
  readonly project: string;
  readonly projectFolder: string;

  constructor() {
    this.root = mkdtempSync(join(tmpdir(), "tutti-templates-"));
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
    this.userFolder = join(this.root, "data/templates");
    this.project = join(this.root, "project");
    this.projectFolder = join(this.project, ".tutti/templates");
    for (const folder of [this.userFolder, this.projectFolder]) mkdirSync(folder, { recursive: true });
  }

  open(options: LibraryOptions = {}): TemplateLibrary {
    return new TemplateLibrary({ userFolder: this.userFolder, ...options });
  }

  /** Writes a user template. Its name defaults to its id. */
  user(id: string, members: Raw | string = {}): string {
    return write(join(this.userFolder, `${id}.json`), id, members);
  }

  ofProject(id: string, members: Raw | string = {}): string {
    return write(join(this.projectFolder, `${id}.json`), id, members);
  }

  userFiles(): string[] {
    return existsSync(this.userFolder) ? readdirSync(this.userFolder).toSorted() : [];
  }

  userFile(id: string): unknown {
    return JSON.parse(readFileSync(join(this.userFolder, `${id}.json`), "utf8"));
  }
}

/** A template with all required members. */
export function wholeTemplate(id: string, members: Raw = {}): Raw {
  const prompt = { system: "Answer between {DELIMITER_START} and {DELIMITER_END}." };
  return {
    id,
    name: id,
    prompts: { analysis: prompt, taskPlanning: prompt, worker: prompt, aggregation: prompt },
    ...members,
  };
}

function write(path: string, id: string, members: Raw | string): string {
  const text = typeof members === "string" ? members : JSON.stringify({ id, name: id, ...members });
  writeFileSync(path, text);
  return path;
}
