import { homedir } from "node:os";
import { cutAtWord, cutPath, textWidth } from "./text-width.ts";
import type { RunRow } from "../access/runs.ts";

/** `command:` and `script:` agents are whole command lines, so they are cut to `AGENT_COLUMNS`. */
const AGENT_COLUMNS = 24;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** One aligned line per run, at most `columns` wide: id, status, progress, cost, agent, age and folder. */
export function runLines(rows: readonly RunRow[], now: number, columns: number): string[] {
  const cells = rows.map((row) => [
    row.id,
    row.interrupted ? "interrupted" : (row.outcome ?? row.status),
    progressOf(row),
    row.usage.usd > 0 ? `$${row.usage.usd.toFixed(2)}` : "",
    cutAtWord(row.agent, AGENT_COLUMNS),
    describeAge(row.createdAt, now),
  ]);
  return alignCells(cells).map((line, i) => {
    const folder = cutPath(shortPath(rows[i]!.cwd), Math.max(0, columns - textWidth(line) - 2));
    return cutAtWord(folder === "" ? line : `${line}  ${folder}`, columns);
  });
}

/** Pads each column to its widest cell by `textWidth`, and leaves out empty columns. */
export function alignCells(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => textWidth(row[i]!))));
  const pad = (cell: string, width: number): string => cell + " ".repeat(width - textWidth(cell));
  return rows.map((row) => row.flatMap((cell, i) => (widths[i] === 0 ? [] : [pad(cell, widths[i]!)])).join("  "));
}

function progressOf({ taskCount, completedTasks, skippedTasks }: RunRow): string {
  return taskCount === 0 ? "" : `${completedTasks}/${taskCount - skippedTasks} tasks`;
}

export function describeAge(at: number, now: number): string {
  const age = now - at;
  if (age < MINUTE) return "just now";
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`;
  if (age < DAY) return `${Math.floor(age / HOUR)} h ago`;
  if (age < 2 * DAY) return "1 day ago";
  return age < 60 * DAY ? `${Math.floor(age / DAY)} days ago` : new Date(at).toISOString().slice(0, 10);
}

function shortPath(path: string): string {
  const home = homedir();
  return path === home || path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Returns null if the run does not rest, or if its inbox names the next command. */
export function describeNext({ id, status, interrupted }: RunRow): string | null {
  if (interrupted) return `No process works on it. Continue it with "${attachCommand(id)}".`;
  return status === "created" ? `It has not started. Start it with "tutti start ${id}".` : null;
}

/** Like `describeNext`, for `--json`. */
export const nextOf = ({
  id,
  interrupted,
}: Pick<RunRow, "id" | "interrupted">): { interrupted?: true; next?: string } =>
  interrupted ? { interrupted, next: attachCommand(id) } : {};

const attachCommand = (id: string): string => `tutti attach ${id}`;
