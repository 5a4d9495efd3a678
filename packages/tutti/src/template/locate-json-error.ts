// Where a text stops being JSON. The platform's own message often has no position, and a person who edits a template
// wants the line. It keeps its own stack, so that no depth of nesting can exhaust the program's.

const SPACE = /[ \t\n\r]*/y;
const STRING = /"[^"\\[\p{Cc}--[\x7f-\x9f]]]*(?:\\(?:["\\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\[\p{Cc}--[\x7f-\x9f]]]*)*"/vy;
const SIMPLE = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

type State = "value" | "first element" | "name" | "first name" | "colon" | "after value";

/** A sentence with line and column, both counted from 1. */
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
    const sign = text[at];
    if (sign === undefined) return { at, problem: "the text ends too early" };
    const next = step(state, sign, open, take);
    if (next === undefined) return { at, problem: complaint(state, sign, open) };
    // What is one sign long is not taken by a pattern.
    if (next.skip) at++;
    state = next.state;
  }
}

/** The state after this sign, or undefined if it cannot stand here. */
function step(
  state: State,
  sign: string,
  open: ("{" | "[")[],
  take: (pattern: RegExp) => boolean,
): { state: State; skip: boolean } | undefined {
  const closes = state === "after value" || state.startsWith("first");
  if (closes && open.length > 0 && sign === closing(open)) {
    open.pop();
    return { state: "after value", skip: true };
  }
  switch (state) {
    case "value":
    case "first element":
      if (sign === "{" || sign === "[") {
        open.push(sign);
        return { state: sign === "{" ? "first name" : "first element", skip: true };
      }
      return take(STRING) || take(SIMPLE) ? { state: "after value", skip: false } : undefined;
    case "name":
    case "first name":
      return take(STRING) ? { state: "colon", skip: false } : undefined;
    case "colon":
      return sign === ":" ? { state: "value", skip: true } : undefined;
    case "after value":
      if (sign !== "," || open.length === 0) return undefined;
      return { state: open.at(-1) === "{" ? "name" : "value", skip: true };
  }
}

const closing = (open: readonly string[]): string => (open.at(-1) === "{" ? "}" : "]");

function complaint(state: State, sign: string, open: readonly string[]): string {
  const found = `there is ${JSON.stringify(sign)}`;
  if (sign === '"' && state !== "colon" && state !== "after value")
    return "this text in quotes has no end on its line, or an escape that JSON does not know";
  if (state === "colon") return `":" is expected, ${found}`;
  if (state === "after value" && open.length === 0) return `nothing may follow, ${found}`;
  if (state === "after value") return `"," or "${closing(open)}" is expected, ${found}`;
  if (state === "name" || state === "first name") return `a name in double quotes is expected, ${found}`;
  return `a value is expected, ${found}`;
}
