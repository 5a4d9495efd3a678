// `locateJsonError` finds the position of a syntax error. The message of `JSON.parse` often lacks the position, and a
// user who edits a template needs the line. The stack `open` is its own, so deep nesting cannot overflow the call
// stack.

const SPACE = /[ \t\n\r]*/y;
const STRING = /"[^"\\[\p{Cc}--[\x7f-\x9f]]]*(?:\\(?:["\\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\[\p{Cc}--[\x7f-\x9f]]]*)*"/vy;
const SIMPLE = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

type State = "value" | "first element" | "name" | "first name" | "colon" | "after value";

/** Counts lines and columns from 1. */
export function locateJsonError(text: string): string {
  const { at, problem } = findError(text);
  const before = text.slice(0, at).split("\n");
  return `line ${before.length}, column ${before.at(-1)!.length + 1}: ${problem}`;
}

function findError(text: string): { at: number; problem: string } {
  const open: ("{" | "[")[] = [];
  let state: State = "value";
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(text)) return false;
    at = pattern.lastIndex;
    return true;
  };
  for (;;) {
    take(SPACE);
    const character = text[at];
    if (character === undefined) return { at, problem: "the text ends unexpectedly" };
    const next = step(state, character, open, take);
    if (next === undefined) return { at, problem: describeError(state, character, open) };
    // `take` consumes patterns only, so a single character is skipped here.
    if (next.skip) at++;
    state = next.state;
  }
}

/** Returns `undefined` if `character` is not allowed here. */
function step(
  state: State,
  character: string,
  open: ("{" | "[")[],
  take: (pattern: RegExp) => boolean,
): { state: State; skip: boolean } | undefined {
  const closes = state === "after value" || state.startsWith("first");
  if (closes && open.length > 0 && character === closing(open)) {
    open.pop();
    return { state: "after value", skip: true };
  }
  switch (state) {
    case "value":
    case "first element":
      if (character === "{" || character === "[") {
        open.push(character);
        return { state: character === "{" ? "first name" : "first element", skip: true };
      }
      return take(STRING) || take(SIMPLE) ? { state: "after value", skip: false } : undefined;
    case "name":
    case "first name":
      return take(STRING) ? { state: "colon", skip: false } : undefined;
    case "colon":
      return character === ":" ? { state: "value", skip: true } : undefined;
    case "after value":
      if (character !== "," || open.length === 0) return undefined;
      return { state: open.at(-1) === "{" ? "name" : "value", skip: true };
  }
}

const closing = (open: readonly string[]): string => (open.at(-1) === "{" ? "}" : "]");

function describeError(state: State, character: string, open: readonly string[]): string {
  const found = `found ${JSON.stringify(character)}`;
  if (character === '"' && state !== "colon" && state !== "after value")
    return "this string is not closed on its line, or has an invalid escape";
  if (state === "colon") return `expected ":", ${found}`;
  if (state === "after value" && open.length === 0) return `expected the end of the text, ${found}`;
  if (state === "after value") return `expected "," or "${closing(open)}", ${found}`;
  if (state === "name" || state === "first name") return `expected a name in double quotes, ${found}`;
  return `expected a value, ${found}`;
}
