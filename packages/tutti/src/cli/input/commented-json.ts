// `parseCommentedJson` accepts comments and trailing commas, as users write them by hand, and knows the line of every
// value.
import { TuttiError } from "../../schema/error.ts";

interface CommentedJson {
  value: unknown;
  /** Returns the line of the value at `path`, or of the innermost existing value around it. Lines count from 1. */
  lineOf: (path: readonly PropertyKey[]) => number;
}

const SPACE = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
const TOKEN = /[{}[\],:]|"(?:[^"\\\n]|\\.)*"|[^\s{}[\],:"/]+/y;

/** Throws `invalid_input` with the line of the first mistake in `details.line`. */
export function parseCommentedJson(text: string): CommentedJson {
  const lines = new Map<string, number>();
  const next = { at: 0, token: "" };
  const lineAt = (position: number) => text.slice(0, position).split("\n").length;
  const fail = (expected: string): never => {
    const found = next.token === "" ? (next.at < text.length ? text[next.at]! : "the end of the file") : next.token;
    const line = lineAt(next.at);
    const problem = `expected ${expected}, found ${found}`;
    throw new TuttiError("invalid_input", `line ${line}: ${problem}. Correct that line.`, {
      details: { line, problem },
    });
  };
  const advance = () => {
    SPACE.lastIndex = next.at + next.token.length;
    SPACE.exec(text);
    next.at = SPACE.lastIndex;
    TOKEN.lastIndex = next.at;
    next.token = TOKEN.exec(text)?.[0] ?? "";
  };
  const literal = (expected: string): unknown => {
    try {
      const value: unknown = JSON.parse(next.token);
      advance();
      return value;
    } catch {
      return fail(expected);
    }
  };
  const members = (end: string, read: () => void) => {
    advance();
    while (next.token !== end) {
      read();
      if (next.token !== ",") break;
      advance();
    }
    if (next.token !== end) fail(`a comma or ${end}`);
    advance();
  };
  const value = (path: readonly PropertyKey[]): unknown => {
    lines.set(JSON.stringify(path), lineAt(next.at));
    if (next.token === "[") {
      const list: unknown[] = [];
      members("]", () => list.push(value([...path, list.length])));
      return list;
    }
    if (next.token !== "{") return literal("a value");
    const entries = new Map<string, unknown>();
    members("}", () => {
      if (!next.token.startsWith('"')) fail("a name in double quotes");
      const name = literal("a name in double quotes") as string;
      if (next.token !== ":") fail("a colon");
      advance();
      if (entries.has(name)) fail(`one member "${name}"`);
      entries.set(name, value([...path, name]));
    });
    return Object.fromEntries(entries);
  };
  advance();
  const root = value([]);
  if (next.at < text.length) fail("the end of the file");
  return {
    value: root,
    lineOf: (path) => lines.get(JSON.stringify(path)) ?? nearest(path),
  };

  function nearest(path: readonly PropertyKey[]): number {
    const around = path.findLastIndex((_, i) => lines.has(JSON.stringify(path.slice(0, i))));
    return lines.get(JSON.stringify(path.slice(0, Math.max(0, around))))!;
  }
}
