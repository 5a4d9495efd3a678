import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { isOwnTool } from "./tools/own-tool.ts";
import type { Permissions } from "../schema/permissions.ts";

export interface ToolRequest {
  /** The tool's name as the agent gives it. */
  tool: string;
  kind: "read" | "edit" | "command" | "other";
  /** A command line, a path or a URL. `subject` is "" if the agent does not report it. */
  subject: string;
  /** The files and folders that a tool of the kind `read` reads, if its `subject` is not its path. */
  paths?: readonly string[];
}

export type PermissionRuling = "allow" | "refuse" | "ask";

/** `ask` leaves the decision to the user. */
export function decidePermission(
  request: ToolRequest,
  { mode, allow, refuse }: Permissions,
  cwd: string,
): PermissionRuling {
  const parts =
    request.kind === "command"
      ? [request.subject, ...request.subject.split(CHAINS).map((part) => part.trim())]
      : [request.subject];
  if (refuse.some((pattern) => parts.some((subject) => matches(pattern, { ...request, subject })))) return "refuse";
  if (mode === "all" || isOwnTool(request.tool) || allow.some((pattern) => allows(pattern, request))) return "allow";
  if (mode === "listed") return "refuse";
  return mode === "edits" && staysInside(request, cwd) ? "allow" : "ask";
}

function staysInside({ kind, subject, paths = [subject] }: ToolRequest, cwd: string): boolean {
  if (kind === "read") return paths.every((path) => isReadable(path, cwd));
  return kind === "edit" && isInside(subject, cwd);
}

/** `decidePermissions` is for one call with several subjects, such as files: the strictest decision counts. */
export function decidePermissions(
  requests: readonly ToolRequest[],
  permissions: Permissions,
  cwd: string,
): PermissionRuling {
  const rulings = new Set(requests.map((request) => decidePermission(request, permissions, cwd)));
  return rulings.has("refuse") ? "refuse" : rulings.has("ask") ? "ask" : "allow";
}

const MAX_SHOWN = 2000;

export function permissionQuestion({ tool, kind, subject }: ToolRequest): string {
  const shown = subject.length > MAX_SHOWN ? `${subject.slice(0, MAX_SHOWN)}…` : subject;
  if (shown === "") return `May the agent use ${tool}?`;
  if (kind === "command") return `May the agent run: ${shown}`;
  if (kind === "edit") return `May the agent change the file: ${shown}`;
  if (tool === "Read") return `May the agent read the file: ${shown}`;
  return `May the agent use ${tool}: ${shown}`;
}

function matches(pattern: string, { tool, subject }: ToolRequest): boolean {
  const bracket = pattern.indexOf("(");
  const name = bracket < 0 ? pattern : pattern.slice(0, bracket);
  if (!fits(name, tool)) return false;
  return bracket < 0 || fits(pattern.slice(bracket + 1, -1), subject);
}

/** In `allows`, a wildcard must not allow a second command that is chained to the allowed one. */
function allows(pattern: string, request: ToolRequest): boolean {
  const open = pattern.includes("(") && pattern.includes("*", pattern.indexOf("("));
  return matches(pattern, request) && !(open && CHAINS.test(request.subject));
}

/** `CHAINS` is shell syntax that joins or nests commands. */
const CHAINS = /[;&|`\n<>(){}]|\$\(/;

/** `*` matches any text. Linear: each part is searched for once, from the end of the previous one. */
function fits(pattern: string, text: string): boolean {
  const parts = pattern.split("*");
  const [first, last] = [parts[0]!, parts.at(-1)!];
  if (parts.length === 1) return pattern === text;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

/**
 * The workspace itself may be read but not replaced: `isInside` is false. Files in `.git` may be read but not changed.
 */
function isInside(path: string, cwd: string): boolean {
  const from = pathFrom(cwd, path);
  return isReadable(path, cwd) && from !== "" && !from.split("/").includes(".git");
}

function isReadable(path: string, cwd: string): boolean {
  const from = pathFrom(cwd, path);
  return path !== "" && from !== ".." && !from.startsWith("../") && !isAbsolute(from);
}

/** `realPath` comes first, because a link in the workspace may point anywhere. */
const pathFrom = (cwd: string, path: string): string => relative(realPath(cwd), realPath(resolve(cwd, path)));

/** Resolves the links of the part of the path that exists. */
export function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}
