import { isAbsolute, relative, resolve } from "node:path";
import { realPath, type ToolRequest } from "../../permission.ts";
import { textOf, type Fields } from "../../json-fields.ts";

/** `SUBJECTS` has the kind of each tool, and the member of its input that is the subject. */
const SUBJECTS: Readonly<Record<string, readonly [kind: ToolRequest["kind"], member: string]>> = {
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

/** Tools that change only the agent's own notes and plans, or start agents that need permission for their own tools. */
const INNER = new Set(
  [
    "Task Agent TodoWrite TodoRead ToolSearch StructuredOutput AskUserQuestion Skill",
    "TaskCreate TaskGet TaskList TaskUpdate TaskOutput TaskStop BashOutput KillShell",
  ].flatMap((names) => names.split(" ")),
);

export const isInner = (tool: string): boolean => INNER.has(tool);

/** `toToolRequest` needs a `cwd` with its links resolved, because the program resolves the paths of files. */
export function toToolRequest(tool: string, input: Fields, cwd: string): ToolRequest {
  const [kind, member] = SUBJECTS[tool] ?? [INNER.has(tool) ? "read" : "other", "description"];
  const subject = textOf(input[member]);
  const isPath = member.endsWith("path") && subject !== "";
  const paths = INNER.has(tool) ? [] : searchedPaths(tool, input, cwd);
  return { tool, kind, subject: isPath ? shortPath(subject, cwd) : subject, ...(paths ? { paths } : {}) };
}

/** The folder that `Glob` or `Grep` searches. `searchedPaths` is null for other tools: their subject is the path. */
function searchedPaths(tool: string, { path, pattern }: Fields, cwd: string): string[] | null {
  if (tool !== "Glob" && tool !== "Grep") return null;
  const folder = resolve(cwd, textOf(path));
  if (tool === "Grep") return [folder];
  const [start = ""] = textOf(pattern).split(/[*?[{]/, 1);
  const rest = textOf(pattern).slice(start.length);
  // A pattern may climb out of the folder after its first wildcard.
  return rest.split("/").includes("..") ? ["/"] : [resolve(folder, start.slice(0, start.lastIndexOf("/") + 1))];
}

/** `shortPath` resolves links. It is relative to `cwd` for files in the workspace, absolute for all others. */
function shortPath(path: string, cwd: string): string {
  const real = realPath(resolve(cwd, path));
  const inside = relative(cwd, real);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? real : inside;
}
