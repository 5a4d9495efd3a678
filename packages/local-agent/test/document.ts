// Plays a whole run of the local agent as the engine does: each worker has its own copy of the base, the changes are
// merged, the overview starts from the merged pages, then come aggregation and verification. All turns are in this process;
// the tests of the protocol and of shared facts start the program.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { ANSWERS } from "../src/phases.ts";
import { readPrompt } from "../src/prompt.ts";
import type { ReadLimits } from "../src/read/read-repository.ts";
import { createTurnOutput, readDelimiters } from "../src/turn-output.ts";
import { type Block, lastBlock, type Line, VARIABLES } from "./agent-session.ts";

export interface Task {
  id: string;
  title: string;
  description: string;
  scope: string[];
  priority: number;
  dependencies: string[];
}

export interface DocumentedRun {
  /** The folder of the main session, with all merged changes. */
  root: string;
  analysis: Block;
  tasks: Task[];
  completions: { task: Task; lines: Line[]; block: Block; written: string[] }[];
  aggregation: Block;
  verification: Block;
  /** Pages by path, after aggregation. */
  pages: Map<string, string>;
}

const folders: string[] = [];

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tutti-local-"));
  folders.push(folder);
  return folder;
}

export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function copyOf(source: string): string {
  const folder = temporaryFolder();
  cpSync(source, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}

export function makeRepository(files: Record<string, string>): string {
  const root = temporaryFolder();
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

export async function documentRepository(
  source: string,
  skip: (task: Task) => boolean = () => false,
  variables: Record<string, string> = {},
  limits?: ReadLimits,
): Promise<DocumentedRun> {
  const root = copyOf(source);
  const ask = (phase: string, more: Record<string, string>): Promise<Line[]> =>
    answerPrompt(root, phase, { ...variables, ...more }, limits);
  const analysis = lastBlock(await ask("analysis", {}));
  const planned = lastBlock(await ask("taskPlanning", { ANALYSIS_JSON: JSON.stringify(analysis.data) }));
  const tasks = planned.data["tasks"] as Task[];
  const completions: DocumentedRun["completions"] = [];
  const run = async (task: Task): Promise<void> => {
    if (skip(task)) return;
    // A task with dependencies starts from their merged results.
    completions.push(await runWorker(task.dependencies.length === 0 ? source : root, root, task, variables, limits));
  };
  for (const task of tasks.filter((candidate) => candidate.dependencies.length === 0)) await run(task);
  for (const task of tasks.filter((candidate) => candidate.dependencies.length > 0)) await run(task);

  const outputs = completions.map(({ block }) => block.data);
  const aggregation = lastBlock(
    await ask("aggregation", { WORKER_OUTPUTS: JSON.stringify(outputs), TASKS_JSON: JSON.stringify(tasks) }),
  );
  const verification = lastBlock(await ask("verification", { WORKER_OUTPUTS: JSON.stringify(outputs) }));
  const pages = new Map(
    filesIn(root)
      .filter((path) => !filesIn(source).includes(path))
      .map((path) => [path, readFileSync(join(root, path), "utf8")]),
  );
  return { root, analysis, tasks, completions, aggregation, verification, pages };
}

/** Returns the lines that the program writes for the prompt. */
export async function answerPrompt(
  root: string,
  phase: string,
  variables: Record<string, string>,
  limits?: ReadLimits,
): Promise<Line[]> {
  const lines: Line[] = [];
  const prompt = readPrompt({ text: "…", phase, variables: { ...VARIABLES, ...variables } }, {});
  const output = createTurnOutput((line) => lines.push(JSON.parse(line) as Line), readDelimiters(prompt.variables));
  await ANSWERS[prompt.phase!]({
    root,
    prompt,
    output,
    checkInterrupt: () => Promise.resolve(),
    ...(limits && { limits }),
  });
  return lines;
}

/** Runs one worker in its own folder, and copies the files that it wrote to `target`. */
async function runWorker(
  base: string,
  target: string,
  task: Task,
  variables: Record<string, string>,
  limits: ReadLimits | undefined,
): Promise<DocumentedRun["completions"][number]> {
  const folder = copyOf(base);
  const before = new Map(filesIn(folder).map((path) => [path, readFileSync(join(folder, path))]));
  const lines = await answerPrompt(folder, "workerExecution", { ...variables, ...taskVariables(task) }, limits);
  const block = lastBlock(lines);
  const written = filesIn(folder).filter((path) => !before.get(path)?.equals(readFileSync(join(folder, path))));
  for (const path of written) {
    mkdirSync(dirname(join(target, path)), { recursive: true });
    cpSync(join(folder, path), join(target, path));
  }
  return { task, lines, block, written };
}

export function taskVariables(task: Task): Record<string, string> {
  return {
    TASK_ID: task.id,
    TASK_TITLE: task.title,
    TASK_DESCRIPTION: task.description,
    TASK_SCOPE: JSON.stringify(task.scope),
  };
}

export function filesIn(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .toSorted();
}

/** Returns the links that do not resolve. Does not use the agent's own parser. */
export function brokenLinks(root: string, pages: Map<string, string>): string[] {
  const broken: string[] = [];
  for (const [page, text] of pages) {
    const unfenced = text.replaceAll(/^(`{3,})[^\n]*\n[\s\S]*?^\1`*$/gm, "");
    const prose = unfenced.replaceAll(/(`+)(?!`).*?[^`]\1(?!`)/g, "");
    for (const [, target = ""] of prose.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [address = "", anchor = ""] = target.split("#");
      const path = address === "" ? join(root, page) : join(root, dirname(page), decodeURIComponent(address));
      const found = statSync(path, { throwIfNoEntry: false });
      const line = /^L(\d+)$/.exec(anchor)?.[1];
      if (!found || (line !== undefined && readFileSync(path, "utf8").split("\n").length < Number(line)))
        broken.push(`${page}: ${target}`);
      if (address === "" && !headingAnchors(unfenced).has(anchor)) broken.push(`${page}: ${target}`);
    }
  }
  return broken;
}

function headingAnchors(text: string): Set<string> {
  const anchors = new Set<string>();
  const counts = new Map<string, number>();
  for (const [, heading = ""] of text.matchAll(/^#+ (.*)$/gm)) {
    const anchor = heading
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, "")
      .trim()
      .toLowerCase()
      .replaceAll(" ", "-");
    const count = counts.get(anchor) ?? 0;
    counts.set(anchor, count + 1);
    anchors.add(count === 0 ? anchor : `${anchor}-${count}`);
  }
  return anchors;
}

/** Returns the documented names that their file does not contain, or whose line is empty. */
export function inventedNames(root: string, pages: Map<string, string>): string[] {
  const invented: string[] = [];
  for (const [page, text] of pages) {
    for (const section of text.split(/^#### /m).slice(1)) {
      const name = /^`([^`]+)`/.exec(section)?.[1] ?? "";
      const place = /^Defined at \[.*\]\((\S+)#L(\d+)\)/m.exec(section);
      const code = place ? readFileSync(join(root, dirname(page), decodeURIComponent(place[1]!)), "utf8") : "";
      const line = code.split("\n")[Number(place?.[2]) - 1] ?? "";
      if (!new RegExp(`\\b${name.replaceAll(/[.$]/g, "\\$&")}\\b`).test(code) || line.trim() === "")
        invented.push(`${page}: ${name}`);
    }
  }
  return invented;
}
