// A tool that Claude Code wants to use, in the words of our permissions, and as a question to a person.
import { realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { ToolWish } from "../../permission.ts";
import { asText, type Message } from "./wire.ts";

/** Which member of its input says what a tool is used on. */
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

/** These change nothing but the agent's own notes and plans, or start agents whose tools are asked for one by one. */
const INNER = new Set(
  [
    "Task Agent TodoWrite TodoRead ToolSearch StructuredOutput AskUserQuestion Skill",
    "TaskCreate TaskGet TaskList TaskUpdate TaskOutput TaskStop BashOutput KillShell",
  ].flatMap((names) => names.split(" ")),
);

export const isInner = (tool: string): boolean => INNER.has(tool);

/** `cwd` is the workspace by its real path, which is how the program names files in it. */
export function toWish(tool: string, input: Message, cwd: string): ToolWish {
  const [kind, member] = SUBJECTS[tool] ?? [INNER.has(tool) ? "read" : "other", "description"];
  const subject = asText(input[member]);
  const isPath = member.endsWith("path") && subject !== "";
  return { tool, kind, subject: isPath ? ownPath(subject, cwd) : subject };
}

/** Files of the workspace by their path in it, all others from the root, and whatever a link leads to by its own name. */
function ownPath(path: string, cwd: string): string {
  const real = realPath(resolve(cwd, path));
  const inside = relative(cwd, real);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? real : inside;
}

/** A file that is still to be made has no real path, but the folder has that it will be in. */
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
  if (shown === "") return `May it use ${tool}?`;
  if (kind === "command") return `May it run: ${shown}`;
  if (kind === "edit") return `May it change the file: ${shown}`;
  if (tool === "Read") return `May it read the file: ${shown}`;
  return `May it use ${tool}: ${shown}`;
}
