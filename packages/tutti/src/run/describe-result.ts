// `describeResult` makes the text of a pull request, in Markdown.
import { outcome } from "./outcome/outcome.ts";
import { taskReport } from "./plan/task-report.ts";
import type { CheckedCommand, Outcome, TaskReport } from "../schema/outcome.ts";
import type { Run } from "../schema/run.ts";

/** `MAX_TITLE` is in characters. Most hosts cut longer titles. */
const MAX_TITLE = 72;
const MAX_FILES = 100;

interface ResultFile {
  path: string;
  additions: number;
  deletions: number;
}

export function describeResult(run: Run, files: readonly ResultFile[], now: number): { title: string; body: string } {
  const [line = ""] = run.userRequest.trim().split("\n");
  const title = line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1)}…` : line;
  const result = outcome(
    run,
    files.map(({ path }) => path),
    now,
  );
  const parts = [
    run.userRequest.trim() === title ? "" : run.userRequest.trim(),
    run.aggregation?.summary ?? run.analysis?.summary ?? "",
    section(
      "Tasks",
      run.tasks.flatMap((task) => taskLines(taskReport(run, task))),
    ),
    section("Checks", checkLines(run, result)),
    section("Conflicts", result.conflicts.map(conflictLine)),
    section("Open points", [
      ...result.causes.map(({ taskId, reason }) => `- ${taskId}: ${reason}`),
      ...warnings(result),
    ]),
    section("Files", fileLines(files)),
    `Run \`${run.id}\`, outcome: ${result.outcome ?? run.status}.`,
  ];
  return { title, body: parts.filter((part) => part !== "").join("\n\n") };
}

const section = (heading: string, lines: readonly string[]): string =>
  lines.length === 0 ? "" : `## ${heading}\n\n${lines.join("\n")}`;

function taskLines({ id, title, status, summary }: TaskReport): string[] {
  const state = status === "completed" ? "" : ` (${status})`;
  const lines = summary === "" ? [] : summary.trim().split("\n");
  return [`- **${title}** \`${id}\`${state}`, ...lines.map((line) => `  ${line}`.trimEnd())];
}

function checkLines({ verification }: Run, result: Outcome): string[] {
  const { commands = [] } = (result.verification ?? {}) as { commands?: CheckedCommand[] };
  const ran = commands.map(({ run: line, exitCode }) => `- \`${line}\`: exit code ${exitCode}`);
  if (!verification) return ran;
  const { status, summary } = verification;
  return [...ran, `- Verification: ${status}${summary === undefined ? "" : `. ${summary}`}`];
}

const conflictLine = ({ type, files, tasks, resolution }: Outcome["conflicts"][number]): string =>
  `- ${type} in ${files.map((file) => `\`${file}\``).join(", ")} between ${tasks.join(" and ")}: ${resolution ?? "open"}`;

/** Leaves out warnings that a cause repeats. */
const warnings = ({ causes, warnings: all }: Outcome): string[] => {
  const isCause = (warning: string): boolean =>
    causes.some(({ taskId, reason }) => reason.split("; ").some((part) => warning === `${taskId}: ${part}.`));
  return all.filter((warning) => !isCause(warning)).map((warning) => `- ${warning}`);
};

function fileLines(files: readonly ResultFile[]): string[] {
  const shown = files
    .slice(0, MAX_FILES)
    .map(({ path, additions, deletions }) => `- \`${path}\` (+${additions} −${deletions})`);
  return files.length > MAX_FILES ? [...shown, `- ${files.length - MAX_FILES} more`] : shown;
}
