// The five answers of the agent, one per phase.
import { aggregate, otherPages, type ReportedOutput } from "./check/aggregate.ts";
import { type CodeAnalysis, analyse } from "./understand/analyse.ts";
import { checkDocs } from "./check/check-docs.ts";
import { folderOf } from "./read/classify.ts";
import type { Component } from "./understand/components.ts";
import { describeAnalysis } from "./understand/describe-analysis.ts";
import { findExamples } from "./write/examples.ts";
import { plural } from "./write/markdown.ts";
import { findWork, planTasks } from "./understand/plan.ts";
import type { Breathe } from "./read/read-repository.ts";
import { isRecord, list, type RequestPhase, type Request, strings, text } from "./request.ts";
import type { Voice } from "./say.ts";
import { writeGenerated } from "./write/write-file.ts";
import { writeOverview } from "./write/write-overview.ts";
import { writePage } from "./write/write-page.ts";

export interface PhaseTurn {
  root: string;
  request: Request;
  voice: Voice;
  breathe: Breathe;
}

export const ANSWERS = {
  analysis: answerAnalysis,
  taskPlanning: answerPlanning,
  workerExecution: answerWorker,
  aggregation: answerAggregation,
  verification: answerVerification,
} satisfies Record<RequestPhase, (turn: PhaseTurn) => Promise<void>>;

async function answerAnalysis({ root, voice, breathe }: PhaseTurn): Promise<void> {
  voice.tool("Glob", { pattern: "**/*" });
  const analysis = await analyse(root, breathe);
  const data = describeAnalysis(analysis);
  for (const path of data.key_files) voice.tool("Read", { file_path: path });
  voice.answer(data.summary, "analysis", data);
}

async function answerPlanning({ root, voice, breathe }: PhaseTurn): Promise<void> {
  const analysis = await analyse(root, breathe);
  const tasks = planTasks(analysis);
  const ids = tasks.map((task) => task.id);
  const groups = [ids.slice(0, -1), ids.slice(-1)].filter((group) => group.length > 0);
  const words = `The pages go to ${analysis.docsFolder}/: ${plural(tasks.length, "task")}, the overview last.`;
  voice.answer(words, "task_list", {
    total_tasks: tasks.length,
    tasks,
    parallelizable_groups: groups,
    execution_order: ids,
  });
}

async function answerWorker(turn: PhaseTurn): Promise<void> {
  const { root, request, voice, breathe } = turn;
  const { variables, taskId } = request;
  const scope = strings(list(variables, "TASK_SCOPE"));
  progress(turn, 5, "Reading the repository", 0, 0);
  const analysis = await analyse(root, breathe);
  const work = findWork(analysis, text(variables, "TASK_TITLE"), text(variables, "TASK_DESCRIPTION"), scope, taskId);
  if (work.kind === "unknown") {
    voice.answer(work.reason, "completion", { task_id: taskId, status: "failed", error: work.reason });
  } else if (work.kind === "overview") writeOverviewPage(turn, analysis);
  else await writeComponentPage(turn, analysis, work.component);
}

async function writeComponentPage(turn: PhaseTurn, analysis: CodeAnalysis, component: Component): Promise<void> {
  const { root, request, voice, breathe } = turn;
  const total = component.files.length;
  const page = `${analysis.docsFolder}/${component.slug}.md`;
  for (const path of component.files.slice(0, 40)) voice.tool("Read", { file_path: path });
  progress(turn, 40, `Looking for uses of ${component.name} in the code`, Math.floor(total / 2), total);
  const examples = await findExamples(analysis, component.files, breathe);
  progress(turn, 80, `Writing ${page}`, total, total);
  const markdown = writePage({ analysis, component, page, examples });
  voice.tool("Write", { file_path: page });
  writeGenerated(root, page, markdown);
  const names = component.files.reduce((sum, path) => sum + (analysis.modules.get(path)?.exports.length ?? 0), 0);
  const summary = `Documented ${component.name} in ${page}: ${plural(total, "file")}, ${plural(names, "exported name")}, ${plural(examples.size, "example")} from the code.`;
  voice.answer(summary, "completion", {
    task_id: request.taskId,
    status: "success",
    summary,
    output_files: [page],
    metrics: {
      files_documented: total,
      names_documented: names,
      examples_quoted: examples.size,
      lines_read: component.lines,
    },
  });
}

function writeOverviewPage(turn: PhaseTurn, analysis: CodeAnalysis): void {
  const { root, request, voice } = turn;
  const { docsFolder, components, repository } = analysis;
  const page = `${docsFolder}/README.md`;
  progress(turn, 70, `Writing ${page}`, components.length, components.length);
  const present = repository.generated.filter((path) => folderOf(path) === docsFolder && path !== page);
  const planned = new Set(components.map(({ slug }) => `${docsFolder}/${slug}.md`));
  for (const path of present.slice(0, 40)) voice.tool("Read", { file_path: path });
  const markdown = writeOverview({
    analysis,
    page,
    hasPage: (slug) => present.includes(`${docsFolder}/${slug}.md`),
    otherPages: otherPages(root, present, planned),
  });
  voice.tool("Write", { file_path: page });
  writeGenerated(root, page, markdown);
  const missing = components
    .filter(({ slug }) => !present.includes(`${docsFolder}/${slug}.md`))
    .map(({ name }) => name);
  const summary = `Wrote the overview of ${plural(components.length, "component")} in ${page}.`;
  voice.answer(summary, "completion", {
    task_id: request.taskId,
    status: "success",
    summary,
    output_files: [page],
    warnings: missing.map((name) => `The component ${name} has no page yet and is not linked.`),
    metrics: { components_listed: components.length, components_linked: components.length - missing.length },
  });
}

async function answerAggregation({ root, request, voice, breathe }: PhaseTurn): Promise<void> {
  const analysis = await analyse(root, breathe);
  const outputs = list(request.variables, "WORKER_OUTPUTS").map(readOutput);
  const conflicts = [...outputs.flatMap((output) => output.conflicts), ...list(request.variables, "CONFLICTS")].map(
    readConflict,
  );
  const result = await aggregate(analysis, outputs, breathe);
  for (const path of result.changed) voice.tool("Write", { file_path: path });
  const failed = result.outputFiles.length === 0;
  const parts = [
    failed
      ? "There is no page to put together."
      : `${plural(result.outputFiles.length, "page")} in ${analysis.docsFolder}/ form one documentation.`,
    result.changed.length > 0 ? `Links or index were put right in ${result.changed.join(", ")}.` : "",
    result.removed.length > 0
      ? `Pages of components that no longer exist were removed: ${result.removed.join(", ")}.`
      : "",
    result.missing.length > 0 ? `Without a page: ${result.missing.join(", ")}.` : "",
  ];
  const summary = parts.filter((part) => part !== "").join(" ");
  voice.answer(summary, "aggregation", {
    status: failed ? "failed" : "success",
    summary,
    conflicts,
    output_files: result.outputFiles,
    ...(failed ? { error: "No worker has left a page." } : {}),
  });
}

async function answerVerification({ root, voice, breathe }: PhaseTurn): Promise<void> {
  const analysis = await analyse(root, breathe);
  const check = checkDocs(analysis);
  for (const path of analysis.repository.generated.slice(0, 40)) voice.tool("Read", { file_path: path });
  const errors = check.issues.filter((issue) => issue.severity === "error").length;
  const isFailed = errors > 0 || check.pages === 0;
  const status = isFailed ? "failed" : check.issues.length > 0 ? "passed_with_warnings" : "passed";
  const checked = `Checked ${plural(check.pages, "page")}: ${plural(check.names, "name")} against the code, ${plural(check.links, "link")}.`;
  const found =
    check.issues.length === 0
      ? "Everything is in order."
      : `Found ${plural(errors, "error")} and ${plural(check.issues.length - errors, "warning")}.`;
  const summary = `${checked} ${found}`;
  voice.answer(summary, "verification", { status, summary, issues: check.issues.slice(0, 200) });
}

function progress(
  { request, voice }: PhaseTurn,
  percent: number,
  action: string,
  processed: number,
  total: number,
): void {
  voice.answer(`${action}.`, "progress", {
    task_id: request.taskId,
    status: "in_progress",
    progress_percent: percent,
    current_action: action,
    files_processed: processed,
    files_total: total,
  });
}

/** What a worker reported; the members may be written in the wire's way or in the program's. */
function readOutput(value: unknown): ReportedOutput {
  if (!isRecord(value)) return { outputFiles: [], conflicts: [] };
  const inner = [value, value["output"], value["result"], value["data"]].filter(isRecord);
  return {
    outputFiles: inner.flatMap((part) => [...strings(part["output_files"]), ...strings(part["outputFiles"])]),
    conflicts: inner.flatMap((part) => (Array.isArray(part["conflicts"]) ? part["conflicts"] : [])),
  };
}

function readConflict(value: unknown): object {
  if (!isRecord(value)) return { type: "conflict", description: String(value) };
  const files = strings(value["files"]);
  const description =
    typeof value["description"] === "string" ? value["description"] : `In ${files.join(", ") || "the merged pages"}.`;
  return { ...value, type: typeof value["type"] === "string" ? value["type"] : "conflict", description };
}
