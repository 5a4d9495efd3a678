// `ANSWERS` maps each phase to the function that answers its prompts.
import { aggregate, otherPages, plannedPages, removeDeadLinks, type ReportedOutput } from "./check/aggregate.ts";
import { type CodeAnalysis, analyse, shareFacts } from "./understand/analyse.ts";
import { checkDocs, deadLink } from "./check/check-docs.ts";
import { findLeftovers } from "./check/find-leftovers.ts";
import { countNames } from "./read/facts.ts";
import { folderOf } from "./read/classify.ts";
import type { Component } from "./understand/components.ts";
import { describeAnalysis } from "./understand/describe-analysis.ts";
import { findExamples } from "./write/examples.ts";
import { plural } from "./write/markdown.ts";
import { findWork, planTasks } from "./understand/plan.ts";
import type { InterruptCheck, ReadLimits } from "./read/read-repository.ts";
import { type AgentPrompt, isRecord, listVariable, type PromptPhase, stringsIn, textVariable } from "./prompt.ts";
import { readSettings } from "./settings.ts";
import type { TurnOutput } from "./turn-output.ts";
import { writeGenerated } from "./write/write-file.ts";
import { hasArchitecture, writeArchitecture } from "./write/write-architecture.ts";
import { writeOverview } from "./write/write-overview.ts";
import { writePage } from "./write/write-page.ts";

const MAX_ISSUES = 200;

export interface PhaseTurn {
  root: string;
  prompt: AgentPrompt;
  output: TurnOutput;
  checkInterrupt: InterruptCheck;
  /** `READ_LIMITS` if undefined. */
  limits?: ReadLimits;
}

export const ANSWERS = {
  analysis: answerAnalysis,
  taskPlanning: answerPlanning,
  workerExecution: answerWorker,
  aggregation: answerAggregation,
  verification: answerVerification,
} satisfies Record<PromptPhase, (turn: PhaseTurn) => Promise<void>>;

function analyseFor({ root, prompt, checkInterrupt, limits }: PhaseTurn): Promise<CodeAnalysis> {
  return analyse(root, checkInterrupt, readSettings(prompt.variables), limits);
}

async function answerAnalysis(turn: PhaseTurn): Promise<void> {
  const { output } = turn;
  output.writeTool("Glob", { pattern: "**/*" });
  const analysis = await analyseFor(turn);
  const data = describeAnalysis(analysis, await shareFacts(analysis));
  for (const path of data.key_files) output.writeTool("Read", { file_path: path });
  output.writeBlock(data.summary, "analysis", data);
}

async function answerPlanning(turn: PhaseTurn): Promise<void> {
  const { output } = turn;
  const analysis = await analyseFor(turn);
  const tasks = planTasks(analysis);
  const ids = tasks.map((task) => task.id);
  const groups = [ids.slice(0, -1), ids.slice(-1)].filter((group) => group.length > 0);
  const text = `The pages go to ${analysis.docsFolder}/: ${plural(tasks.length, "task")}, the overview last.`;
  output.writeBlock(text, "task_list", {
    total_tasks: tasks.length,
    tasks,
    parallelizable_groups: groups,
    execution_order: ids,
  });
}

async function answerWorker(turn: PhaseTurn): Promise<void> {
  const { prompt, output } = turn;
  const { variables, taskId } = prompt;
  const scope = stringsIn(listVariable(variables, "TASK_SCOPE"));
  reportProgress(turn, 5, "Reading the repository", 0, 0);
  const analysis = await analyseFor(turn);
  const work = findWork(
    analysis,
    textVariable(variables, "TASK_TITLE"),
    textVariable(variables, "TASK_DESCRIPTION"),
    scope,
    taskId,
  );
  if (work.kind === "unknown") {
    output.writeBlock(work.reason, "completion", { task_id: taskId, status: "failed", error: work.reason });
  } else if (work.kind === "overview") {
    writeOverviewPage(turn, analysis);
  } else {
    await writeComponentPage(turn, analysis, work.component);
  }
}

async function writeComponentPage(turn: PhaseTurn, analysis: CodeAnalysis, component: Component): Promise<void> {
  const { root, prompt, output, checkInterrupt } = turn;
  const total = component.files.length;
  const page = `${analysis.docsFolder}/${component.slug}.md`;
  for (const path of component.files.slice(0, 40)) output.writeTool("Read", { file_path: path });
  reportProgress(turn, 40, `Searching for uses of ${component.name} in the code`, Math.floor(total / 2), total);
  const examples = await findExamples(analysis, component, checkInterrupt);
  reportProgress(turn, 80, `Writing ${page}`, total, total);
  const markdown = writePage({ analysis, component, page, examples });
  output.writeTool("Write", { file_path: page });
  const isChanged = writeGenerated(root, page, markdown);
  const names = component.files
    .flatMap((path) => analysis.modules.get(path) ?? [])
    .reduce((sum, module) => sum + countNames(module), 0);
  const faults = findLeftovers(markdown).map(({ line, problem }) => `${page}:${line}: ${problem}`);
  const summary = `Documented ${component.name} in ${page}: ${plural(total, "file")}, ${plural(names, "exported name")}, ${plural(examples.size, "example")} from the code.`;
  output.writeBlock(summary, "completion", {
    task_id: prompt.taskId,
    ...completionOf(faults),
    summary,
    ...outputOf([page], isChanged ? [page] : []),
    metrics: {
      files_documented: total,
      names_documented: names,
      examples_quoted: examples.size,
      lines_read: component.lines,
    },
  });
}

function writeOverviewPage(turn: PhaseTurn, analysis: CodeAnalysis): void {
  const { root, prompt, output } = turn;
  const { docsFolder, components, repository } = analysis;
  const page = `${docsFolder}/README.md`;
  reportProgress(turn, 70, `Writing ${page}`, components.length, components.length);
  const present = repository.generated.filter((path) => folderOf(path) === docsFolder && path !== page);
  const hasPage = (slug: string): boolean => present.includes(`${docsFolder}/${slug}.md`);
  for (const path of present.slice(0, 40)) output.writeTool("Read", { file_path: path });
  const markdown = writeOverview({
    analysis,
    page,
    hasPage,
    otherPages: otherPages(root, present, plannedPages(analysis)),
  });
  const texts = new Map([[page, markdown]]);
  const architecture = `${docsFolder}/architecture.md`;
  if (hasArchitecture(analysis)) texts.set(architecture, writeArchitecture(analysis, architecture, hasPage));
  const written = [...texts.keys()];
  for (const path of written) output.writeTool("Write", { file_path: path });
  const changed = written.filter((path) => writeGenerated(root, path, texts.get(path)!));
  const missing = components.filter(({ slug }) => !hasPage(slug)).map(({ name }) => name);
  const generated = [...new Set([...repository.generated, ...written])];
  // A worker does not know the reports of the others; the verification compares those with the pages.
  const { issues } = checkDocs({ ...analysis, repository: { ...repository, generated } }, new Set());
  // The aggregation removes links to pages that do not exist, so such a `deadLink` is no fault here.
  const dead = new Set(components.filter(({ slug }) => !hasPage(slug)).map(({ slug }) => deadLink(`${slug}.md`)));
  const faults = issues
    .filter(({ isFault, description }) => isFault && !dead.has(description))
    .map(({ location, description }) => `${location}: ${description}`);
  const summary = `Wrote the overview of ${plural(components.length, "component")} in ${page}.`;
  const { warnings, ...completion } = completionOf(faults);
  output.writeBlock(summary, "completion", {
    task_id: prompt.taskId,
    ...completion,
    summary,
    ...outputOf(written, changed),
    warnings: [...warnings, ...missing.map((name) => `The component ${name} has no page yet and is not linked.`)],
    metrics: { components_listed: components.length, components_linked: components.length - missing.length },
  });
}

async function answerAggregation(turn: PhaseTurn): Promise<void> {
  const { prompt, output, checkInterrupt } = turn;
  const analysis = await analyseFor(turn);
  const outputs = listVariable(prompt.variables, "WORKER_OUTPUTS").map(readWorkerOutput);
  const conflicts = [
    ...outputs.flatMap((report) => report.conflicts),
    ...listVariable(prompt.variables, "CONFLICTS"),
  ].map(readConflict);
  const result = await aggregate(analysis, outputs, checkInterrupt);
  for (const path of result.changed) output.writeTool("Write", { file_path: path });
  const failed = result.outputFiles.length === 0;
  const parts = [
    failed
      ? "There are no pages to combine."
      : `Combined ${plural(result.outputFiles.length, "page")} in ${analysis.docsFolder}/.`,
    result.changed.length > 0 ? `Corrected links or the index in ${result.changed.join(", ")}.` : "",
    result.removed.length > 0 ? `Removed pages of components that no longer exist: ${result.removed.join(", ")}.` : "",
    result.missing.length > 0 ? `Components without a page: ${result.missing.join(", ")}.` : "",
  ];
  const summary = parts.filter((part) => part !== "").join(" ");
  output.writeBlock(summary, "aggregation", {
    status: failed ? "failed" : "success",
    summary,
    conflicts,
    ...outputOf(result.outputFiles, [...result.changed, ...outputs.flatMap(({ changedFiles }) => changedFiles)]),
    ...(failed ? { error: "No worker wrote a page. Run the tasks again." } : {}),
  });
}

async function answerVerification(turn: PhaseTurn): Promise<void> {
  const { root, prompt, output, checkInterrupt } = turn;
  const analysis = await analyseFor(turn);
  const outputs = listVariable(prompt.variables, "WORKER_OUTPUTS").map(readWorkerOutput);
  // Without an aggregation, pages may still link to those of skipped tasks.
  const planned = plannedPages(analysis);
  const pages = analysis.repository.generated.filter((path) => folderOf(path) === analysis.docsFolder);
  const fixed = await removeDeadLinks(root, pages, (path) => planned.has(path), checkInterrupt);
  for (const path of fixed) output.writeTool("Write", { file_path: path });
  const check = checkDocs(analysis, new Set(outputs.flatMap(({ outputFiles }) => outputFiles)));
  for (const path of analysis.repository.generated.slice(0, 40)) output.writeTool("Read", { file_path: path });
  const errors = check.issues.filter(({ isFault }) => isFault).length;
  const status = check.pages === 0 ? "failed" : check.issues.length > 0 ? "passed_with_warnings" : "passed";
  const checked = `Checked ${plural(check.pages, "page")}: ${plural(check.names, "name")}, ${plural(check.examples, "example")} and ${plural(check.edges, "dependency", "dependencies")} against the code, ${plural(check.links, "link")}.`;
  const findings =
    check.issues.length === 0
      ? "Found no problems."
      : `Found ${plural(errors, "error")} and ${plural(check.issues.length - errors, "warning")}.`;
  const summary = [checked, findings, ...analysis.cuts].join(" ");
  output.writeBlock(summary, "verification", {
    status,
    summary,
    // Errors come first, so that the limit keeps them.
    issues: check.issues
      .toSorted((a, b) => Number(b.isFault) - Number(a.isFault))
      .slice(0, MAX_ISSUES)
      .map(({ isFault, description, location }) => ({
        severity: isFault ? "error" : "warning",
        description,
        location,
      })),
    remaining_faults: check.issues
      .filter(({ isFault }) => isFault)
      .slice(0, MAX_ISSUES)
      .map(({ description, location }) => (location === undefined ? description : `${location}: ${description}`)),
    auto_fixed: fixed.map((path) => `Removed links to pages of skipped tasks from ${path}.`),
  });
}

/** `output_files` has only changed pages. The others are `unchanged_files`, so that the aggregation keeps them. */
function outputOf(pages: string[], changed: string[]): { output_files: string[]; unchanged_files: string[] } {
  const isChanged = (page: string): boolean => changed.includes(page);
  return { output_files: pages.filter(isChanged), unchanged_files: pages.filter((page) => !isChanged(page)) };
}

/** A page with a fault that the agent cannot mend is a partial result, which makes the run degraded. */
function completionOf(faults: string[]): { status: string; warnings: string[]; error?: string } {
  if (faults.length === 0) return { status: "success", warnings: [] };
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
  return { status: "partial", warnings: faults.slice(0, 20), error: `${faults[0]}${more}` };
}

function reportProgress(
  { prompt, output }: PhaseTurn,
  percent: number,
  action: string,
  processed: number,
  total: number,
): void {
  output.writeBlock(`${action}.`, "progress", {
    task_id: prompt.taskId,
    status: "in_progress",
    progress_percent: percent,
    current_action: action,
    files_processed: processed,
    files_total: total,
  });
}

/** Accepts member names in snake case, as in response blocks, and in camel case, as in the library. */
function readWorkerOutput(value: unknown): ReportedOutput {
  if (!isRecord(value)) return { outputFiles: [], changedFiles: [], conflicts: [] };
  const records = [value, value["output"], value["result"], value["data"]].filter(isRecord);
  const filesIn = (name: string): string[] => records.flatMap((part) => stringsIn(part[name]));
  const changedFiles = [...filesIn("output_files"), ...filesIn("outputFiles")];
  return {
    outputFiles: [...changedFiles, ...filesIn("unchanged_files")],
    changedFiles,
    conflicts: records.flatMap((part) => (Array.isArray(part["conflicts"]) ? part["conflicts"] : [])),
  };
}

function readConflict(value: unknown): object {
  if (!isRecord(value)) return { type: "conflict", description: String(value) };
  const files = stringsIn(value["files"]);
  const description =
    typeof value["description"] === "string" ? value["description"] : `In ${files.join(", ") || "the merged pages"}.`;
  return { ...value, type: typeof value["type"] === "string" ? value["type"] : "conflict", description };
}
