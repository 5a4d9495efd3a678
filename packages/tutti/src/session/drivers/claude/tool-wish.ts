import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { ToolWish } from "../../permission.ts";
import { asText, type Message } from "./wire.ts";

/** The kind of each tool, and the member of its input that is the subject. */
const SUBJECTS: Readonly<Record<string, readonly [kind: ToolWish["kind"], member: string]>> = {
  Read: ["read", "file_path"],
  NotebookRead: ["read", "notebook_path"],
  LS: ["read", "path"],
  Glob: ["read", "pattern"],
  Grep: ["read", "pattern"],
  Write: ["edit", "file_path"],
  Edit: ["edit", "file_path"],
  MultiEdit: ["edit", "file_path"],
  NotebookEdit: ["edit", "notebook_path"],
  Bash: ["command", "command"],
  Monitor: ["command", "command"],
  WebFetch: ["other", "url"],
  WebSearch: ["other", "query"],
};

/** Tools that change only the agent's own notes and plans, or start agents whose tools need their own permission. */
const INNER = new Set(
  [
    "Task Agent TodoWrite TodoRead ToolSearch StructuredOutput AskUserQuestion Skill",
    "TaskCreate TaskGet TaskList TaskUpdate TaskOutput TaskStop BashOutput KillShell",
  ].flatMap((names) => names.split(" ")),
);

export const isInner = (tool: string): boolean => INNER.has(tool);

/** `cwd` must have its links resolved, because the program resolves the paths of files. */
export function toWish(tool: string, input: Message, cwd: string): ToolWish {
  const [kind, member] = SUBJECTS[tool] ?? [INNER.has(tool) ? "read" : "other", "description"];
  const subject = asText(input[member]);
  const isPath = member.endsWith("path") && subject !== "";
  return { tool, kind, subject: isPath ? shortPath(subject, cwd) : subject };
}

/** Resolves links. Relative to `cwd` for files in the workspace, absolute for all others. */
function shortPath(path: string, cwd: string): string {
  const real = realPath(resolve(cwd, path));
  const inside = relative(cwd, real);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? real : inside;
}

/** For a file that does not exist yet, resolves its folder. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), path.slice(folder.length));
  }
}

const LONGEST = 2000;

export function questionOf({ tool, kind, subject }: ToolWish): string {
  const shown = subject.length > LONGEST ? `${subject.slice(0, LONGEST)}…` : subject;
  if (shown === "") return `May the agent use ${tool}?`;
  if (kind === "command") return `May the agent run: ${shown}`;
  if (kind === "edit") return `May the agent change the file: ${shown}`;
  if (tool === "Read") return `May the agent read the file: ${shown}`;
  return `May the agent use ${tool}: ${shown}`;
}
