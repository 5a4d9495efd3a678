// What a tool call of the protocol is about: its name, its kind and what it is used on. An agent tells it piece by piece,
// and only some of them give a name besides a title for people.
import { isRecord, listOf, recordOf, textOf, type Fields } from "./fields.ts";
import type { ToolWish } from "../../permission.ts";

export interface ToolCall {
  name: string | null;
  kind: string;
  title: string;
  input: unknown;
  /** The files it names, in places and differences. */
  paths: readonly string[];
}

export const NEW_CALL: ToolCall = { name: null, kind: "other", title: "", input: null, paths: [] };

/** The call with what an update says; what it does not say stays. */
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

/** Names for agents that give none, the same that other agents have for such tools. */
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

/** Input that an agent keeps to itself is told by what it shows people. */
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

/** One wish for each thing that the call is used on: all of them must be allowed. */
export function wishesOf(call: ToolCall): ToolWish[] {
  const tool = nameOf(call);
  const kind = Object.hasOwn(KINDS, call.kind) ? KINDS[call.kind]! : "other";
  return subjectsOf(call, kind).map((subject) => ({ tool, kind, subject }));
}

function subjectsOf({ input, title, paths }: ToolCall, kind: ToolWish["kind"]): readonly string[] {
  const given = recordOf(input);
  if (kind === "command") return [commandOf(given["command"]) ?? title];
  if (kind === "other") return [textOf(given["url"]) ?? paths[0] ?? title];
  const named = ["file_path", "path", "absolute_path"].flatMap((name) => textOf(given[name]) ?? []);
  const all = [...new Set([...paths, ...named])];
  return all.length > 0 ? all : [""];
}

function commandOf(value: unknown): string | null {
  return Array.isArray(value) ? textOf(value.filter((word) => typeof word === "string").join(" ")) : textOf(value);
}
