// Reads tool calls. An agent reports a call in several updates, and only some agents give a name in addition to the
// title.
import { isRecord, listOf, recordOf, textOf, type Fields } from "./fields.ts";
import type { ToolWish } from "../../permission.ts";

export interface ToolCall {
  name: string | null;
  kind: string;
  title: string;
  input: unknown;
  /** From the call's locations and diffs. */
  paths: readonly string[];
}

export const NEW_CALL: ToolCall = { name: null, kind: "other", title: "", input: null, paths: [] };

/** Members that the update lacks keep their value. */
export function withUpdate(call: ToolCall, update: Fields): ToolCall {
  const { rawInput, locations, content } = update;
  const input = isRecord(rawInput) ? (Object.keys(rawInput).length > 0 ? rawInput : null) : (rawInput ?? null);
  const paths = [...listOf(locations), ...listOf(content).filter(({ type }) => type === "diff")].flatMap(
    ({ path }) => textOf(path) ?? [],
  );
  return {
    name: textOf(update["name"]) ?? textOf(recordOf(recordOf(update["_meta"])["claudeCode"])["toolName"]) ?? call.name,
    kind: textOf(update["kind"]) ?? call.kind,
    title: textOf(update["title"]) ?? call.title,
    input: input ?? call.input,
    paths: paths.length > 0 ? [...new Set(paths)] : call.paths,
  };
}

/** Names by kind, for agents that give none. They equal the names of Claude Code's tools where one exists. */
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

export const nameOf = ({ name, kind }: ToolCall): string =>
  name ?? (Object.hasOwn(NAMES, kind) ? NAMES[kind]! : "Other");

/** Falls back to title and paths if the agent does not report the input. */
export const inputOf = ({ input, title, paths }: ToolCall): unknown =>
  input ?? { ...(title === "" ? {} : { title }), ...(paths.length > 0 ? { paths } : {}) };

const KINDS: Readonly<Record<string, ToolWish["kind"]>> = {
  read: "read",
  search: "read",
  edit: "edit",
  delete: "edit",
  move: "edit",
  execute: "command",
};

/** One wish per subject; all of them must be allowed. */
export function wishesOf(call: ToolCall): ToolWish[] {
  const tool = nameOf(call);
  const kind = Object.hasOwn(KINDS, call.kind) ? KINDS[call.kind]! : "other";
  return subjectsOf(call, kind).map((subject) => ({ tool, kind, subject }));
}

function subjectsOf({ input, title, paths }: ToolCall, kind: ToolWish["kind"]): readonly string[] {
  const fields = recordOf(input);
  if (kind === "command") return [commandOf(fields["command"]) ?? title];
  if (kind === "other") return [textOf(fields["url"]) ?? paths[0] ?? title];
  const named = ["file_path", "path", "absolute_path"].flatMap((name) => textOf(fields[name]) ?? []);
  const all = [...new Set([...paths, ...named])];
  return all.length > 0 ? all : [""];
}

function commandOf(value: unknown): string | null {
  return Array.isArray(value) ? textOf(value.filter((word) => typeof word === "string").join(" ")) : textOf(value);
}
