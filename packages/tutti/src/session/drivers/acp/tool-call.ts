// A `ToolCall` is reported in several updates, and only some agents give a name in addition to the title.
import { listOf, recordOf, textOrNull, type Fields } from "../../json-fields.ts";
import { isRecord } from "../../../protocol/json/json-value.ts";
import type { ToolRequest } from "../../permission.ts";
import { SERVER_NAME } from "../../tools/own-tool.ts";

export interface ToolCall {
  name: string | null;
  kind: string;
  title: string;
  input: unknown;
  /** From the call's locations and diffs. */
  paths: readonly string[];
  /** `parent` is the call that started the subagent which makes this call. */
  parent: string | null;
}

/** Null for an update of the main agent. */
export const parentOf = (update: Fields): string | null =>
  textOrNull(recordOf(recordOf(update["_meta"])["claudeCode"])["parentToolUseId"]);

export const NEW_CALL: ToolCall = { name: null, kind: "other", title: "", input: null, paths: [], parent: null };

/** In `withUpdate`, members that `update` lacks keep their value. */
export function withUpdate(call: ToolCall, update: Fields): ToolCall {
  const { rawInput, locations, content } = update;
  const input = isRecord(rawInput) ? (Object.keys(rawInput).length > 0 ? rawInput : null) : (rawInput ?? null);
  const paths = [...listOf(locations), ...listOf(content).filter(({ type }) => type === "diff")].flatMap(
    ({ path }) => textOrNull(path) ?? [],
  );
  return {
    name:
      textOrNull(update["name"]) ??
      textOrNull(recordOf(recordOf(update["_meta"])["claudeCode"])["toolName"]) ??
      call.name,
    kind: textOrNull(update["kind"]) ?? call.kind,
    title: textOrNull(update["title"]) ?? call.title,
    input: input ?? call.input,
    paths: paths.length > 0 ? [...new Set(paths)] : call.paths,
    parent: parentOf(update) ?? call.parent,
  };
}

/** `NAMES` by kind are for agents that give none. They equal the names of Claude Code's tools where one exists. */
const NAMES: Readonly<Record<string, string>> = {
  read: "Read",
  edit: "Edit",
  delete: "Delete",
  move: "Move",
  search: "Search",
  execute: "Bash",
  think: "Think",
  fetch: "WebFetch",
};

export const nameOf = ({ name, kind, title }: ToolCall): string =>
  name ?? (Object.hasOwn(NAMES, kind) ? NAMES[kind]! : (ownTool(title) ?? "Other"));

/** Gemini gives a tool of an MCP server only a title, such as `ask (tutti MCP Server)`. */
function ownTool(title: string): string | null {
  const [, tool, server] = /^([a-z_]+) \((\w+) MCP Server\)$/.exec(title) ?? [];
  return server === SERVER_NAME ? `mcp__${SERVER_NAME}__${tool}` : null;
}

/** Falls back to title and paths if the agent does not report the input. */
export const inputOf = ({ input, title, paths }: ToolCall): unknown =>
  input ?? { ...(title === "" ? {} : { title }), ...(paths.length > 0 ? { paths } : {}) };

const KINDS: Readonly<Record<string, ToolRequest["kind"]>> = {
  read: "read",
  search: "read",
  edit: "edit",
  delete: "edit",
  move: "edit",
  execute: "command",
};

/** `requestsOf` has one request per subject; all of them must be allowed. */
export function requestsOf(call: ToolCall): ToolRequest[] {
  const tool = nameOf(call);
  const kind = Object.hasOwn(KINDS, call.kind) ? KINDS[call.kind]! : "other";
  return subjectsOf(call, kind).map((subject) => ({ tool, kind, subject }));
}

function subjectsOf({ input, title, paths }: ToolCall, kind: ToolRequest["kind"]): readonly string[] {
  const fields = recordOf(input);
  if (kind === "command") return [commandOf(fields["command"]) ?? title];
  if (kind === "other") return [textOrNull(fields["url"]) ?? paths[0] ?? title];
  const named = ["file_path", "path", "absolute_path"].flatMap((name) => textOrNull(fields[name]) ?? []);
  const all = [...new Set([...paths, ...named])];
  return all.length > 0 ? all : [""];
}

function commandOf(value: unknown): string | null {
  return Array.isArray(value)
    ? textOrNull(value.filter((word) => typeof word === "string").join(" "))
    : textOrNull(value);
}
