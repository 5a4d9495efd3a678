import type { DrawnLine, Size } from "./screen.ts";
import { cutTo, textWidth } from "./text-width.ts";
import { safeText } from "./output.ts";
import { criticalTasks, msPerTask } from "./critical-path.ts";
import { describePhase } from "./describe.ts";
import { plural } from "../../run/describe-event.ts";
import { planTree, type Branch } from "./plan-tree.ts";
import type { Run } from "../../schema/run.ts";
import { isRunOver } from "../../schema/status.ts";
import type { Worker } from "../../schema/worker.ts";

export type Paint = (colour: Colour, text: string) => string;
export type Colour = "red" | "green" | "yellow" | "cyan" | "dim" | "bold";

interface Mark {
  sign: string;
  colour: Colour;
}

const MARKS = {
  completed: { sign: "✔", colour: "green" },
  active: { sign: "▶", colour: "cyan" },
  paused: { sign: "‖", colour: "yellow" },
  waiting: { sign: "·", colour: "dim" },
  failed: { sign: "✗", colour: "red" },
  blocked: { sign: "⊘", colour: "yellow" },
  skipped: { sign: "–", colour: "dim" },
} as const satisfies Record<string, Mark>;
type Standing = keyof typeof MARKS;

/** Limits the title, in columns, so that `detailOf` has room on the line. */
const TITLE_COLUMNS = 44;

/** Draws a summary, the main session and the `planTree`. `doing` is the last action of the main session. */
export function drawBoard(
  run: Run,
  doing: string | null,
  now: number,
  { columns, rows }: Size,
  paint: Paint,
): DrawnLine[] {
  const fit = (text: string, colour: Colour): DrawnLine => {
    const line = cutTo(safeText(text), columns - 1);
    return { plain: line, text: paint(colour, line) };
  };
  const head = fit(headOf(run, now), "bold");
  const main = run.main !== null && run.main.turn !== null ? [fit(`  ${mainOf(run, doing, now)}`, "cyan")] : [];
  const room = Math.max(1, rows - 2 - main.length);
  const branches = planTree(run.tasks);
  const shown = branches.length <= room ? branches : mostRelevant(run, branches, room - 1);
  const tasks = shown.map((branch) => taskLine(run, branch, now, columns, paint));
  const left = branches.length - shown.length;
  return [head, ...main, ...tasks, ...(left > 0 ? [fit(`  … and ${left} more`, "dim")] : [])];
}

function headOf(run: Run, now: number): string {
  const done = run.tasks.filter(({ id }) => run.workers[id]?.status === "completed").length;
  const { inputTokens, outputTokens, usd } = run.usage;
  const path = criticalTasks(run);
  const perTask = msPerTask(run);
  const estimate = perTask === null ? "" : ` ≈ ${clock(perTask * path.length)}`;
  const parts = [
    describePhase(run),
    ...(run.tasks.length > 0 ? [`${done}/${run.tasks.length} tasks`] : []),
    ...(run.startedAt === null ? [] : [clock((run.completedAt ?? now) - run.startedAt)]),
    ...(inputTokens + outputTokens > 0 ? [`${short(inputTokens + outputTokens)} tokens`] : []),
    ...(usd > 0 ? [`$${usd.toFixed(2)}`] : []),
    ...(path.length > 0 && !isRunOver(run.status) ? [`critical path: ${path.length} left${estimate}`] : []),
  ];
  return parts.join("  ");
}

function mainOf(run: Run, doing: string | null, now: number): string {
  const since = run.main!.turn!.startedAt;
  return ["main session", ...(doing === null ? [] : [doing]), clock(now - since)].join("  ");
}

function taskLine(run: Run, branch: Branch, now: number, columns: number, paint: Paint): DrawnLine {
  const { task } = branch;
  // A `stem` wider than half the terminal leaves no room for the task, so drop it.
  const stem = textWidth(branch.stem) > columns / 2 ? "  " : branch.stem;
  const standing = standingOf(run, task.id, run.workers[task.id]);
  const { sign, colour } = MARKS[standing];
  const start = `${stem}${sign} `;
  const width = columns - 1 - textWidth(start);
  const title = cutTo(safeText(`${task.id}  ${task.title}`), Math.min(TITLE_COLUMNS, width));
  const room = width - textWidth(title);
  const detail = cutTo(safeText(detailOf(run, branch, standing, now)), Math.max(0, room - 2));
  const end = detail === "" ? "" : `  ${detail}`;
  return {
    plain: `${start}${title}${end}`,
    text: `${paint("dim", stem)}${paint(colour, sign)} ${title}${paint(standing === "failed" ? "red" : "dim", end)}`,
  };
}

function standingOf(run: Run, taskId: string, worker: Worker | undefined): Standing {
  if (run.skipped[taskId]) return "skipped";
  if (run.blocked[taskId]) return "blocked";
  switch (worker?.status) {
    case undefined:
    case "pending":
      return "waiting";
    case "completed":
      return "completed";
    case "failed":
    case "timeout":
    case "cancelled":
      return "failed";
    case "paused":
      return "paused";
    default:
      return "active";
  }
}

function detailOf(run: Run, { task, alsoAfter }: Branch, standing: Standing, now: number): string {
  const { id: taskId, agent, model } = task;
  const worker = run.workers[taskId];
  if (standing === "blocked") return `needs ${run.blocked[taskId]!.join(", ")}`;
  if (standing === "skipped") return "skipped";
  const by = [agent, model].filter((name) => name !== undefined).join(" ");
  if (!worker || standing === "waiting")
    return [
      ...(by === "" ? [] : [`by ${by}`]),
      ...(alsoAfter.length === 0 ? [] : [`also after ${alsoAfter.join(", ")}`]),
    ].join("  ");
  const elapsed = worker.startedAt === null ? [] : [clock((worker.completedAt ?? now) - worker.startedAt)];
  const cost = worker.usage.usd > 0 ? [`$${worker.usage.usd.toFixed(2)}`] : [];
  if (standing === "failed") return [worker.error ?? worker.status, ...elapsed].join("  ");
  if (standing === "completed") return [...elapsed, plural(worker.outputFiles.length, "file"), ...cost].join("  ");
  const asks = Object.values(run.inbox).some((item) => item.taskId === taskId && item.kind !== "failure");
  const attempt = worker.attempt > 1 ? [`attempt ${worker.attempt}`] : [];
  const progress = worker.progress > 0 ? [`${worker.progress} %`] : [];
  const doing = asks ? ["waiting for your answer"] : worker.currentAction === null ? [] : [worker.currentAction];
  return [...elapsed, ...progress, ...attempt, ...doing, ...cost].join("  ");
}

/** Selects `room` branches by `rank`. Keeps the order of the plan. */
function mostRelevant(run: Run, branches: Branch[], room: number): Branch[] {
  const rank: Record<Standing, number> = {
    active: 0,
    paused: 0,
    failed: 1,
    blocked: 2,
    waiting: 3,
    skipped: 4,
    completed: 4,
  };
  const ranked = branches.map((branch, position) => ({
    branch,
    position,
    rank: rank[standingOf(run, branch.task.id, run.workers[branch.task.id])],
  }));
  const selected = ranked.toSorted((a, b) => a.rank - b.rank || a.position - b.position).slice(0, room);
  return selected.toSorted((a, b) => a.position - b.position).map(({ branch }) => ({ ...branch, stem: "  " }));
}

/** Formats a duration: `0:07`, `12:30`, `1:02:03`. */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

const short = (count: number): string => {
  if (count < 1000) return String(count);
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`;
};
