// A tokenizer for JavaScript and TypeScript. It accepts any text, always ends and never throws. JSX becomes names and
// punctuation, which is enough to find declarations.

type TokenType = "name" | "private" | "string" | "template" | "regex" | "number" | "punctuation";

export interface Token {
  type: TokenType;
  text: string;
  start: number;
  end: number;
  line: number;
  /** Whether the token is the first on its line. */
  startsLine: boolean;
}

export interface Comment {
  /** With the comment markers. */
  text: string;
  start: number;
  end: number;
  line: number;
  startsLine: boolean;
}

export interface ScriptTokens {
  text: string;
  list: Token[];
  comments: Comment[];
  /** Maps each bracket to the index of its partner, or to `list.length` if it has none. */
  partner: Int32Array;
}

const PUNCTUATION = /=>|\.{3}|\?\.(?!\d)|\?\?=?|&&=?|\|\|=?|={2,3}|!={1,2}|<=|\*\*=?|\+\+|--|[-+*/%&|^]=|./suy;
const NAME = /[\p{ID_Start}$_](?:[\p{ID_Continue}$\u200c\u200d]|\\u\{?[\da-fA-F]+\}?)*/uy;
const NUMBER = /0[xXbBoO][\da-fA-F_]+n?|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?n?/y;
const REGEX = /\/(?![*/])(?:\\[^\n]|\[(?:\\[^\n]|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
/** A slash after these words opens a regular expression. */
const BEFORE_REGEX = /^(return|typeof|case|in|of|delete|void|throw|new|else|do|instanceof|yield|await)$/;

/** The search for the end of an unclosed template reads the rest of the file, so only a few are searched. */
const MAX_UNCLOSED = 20;

export function tokenize(text: string): ScriptTokens {
  const list: Token[] = [];
  const comments: Comment[] = [];
  let at = 0;
  let line = 1;
  let startsLine = true;
  let unclosedTemplates = 0;

  const addToken = (type: TokenType, end: number): void => {
    const value = text.slice(at, end);
    list.push({ type, text: value, start: at, end, line, startsLine });
    advance(end, value);
  };
  const advance = (end: number, value: string): void => {
    if (value.includes("\n")) line += value.split("\n").length - 1;
    at = end;
    startsLine = false;
  };

  if (text.startsWith("#!")) at = lineEnd(text, 0);
  while (at < text.length) {
    const char = text[at]!;
    if (char === "\n") {
      line += 1;
      startsLine = true;
      at += 1;
    } else if (/\s/.test(char)) {
      at += 1;
    } else if (char === "/" && (text[at + 1] === "/" || text[at + 1] === "*")) {
      const end = text[at + 1] === "/" ? lineEnd(text, at) : blockEnd(text, at);
      const value = text.slice(at, end);
      comments.push({ text: value, start: at, end, line, startsLine });
      const isFirst: boolean = startsLine;
      advance(end, value);
      startsLine = isFirst && value.startsWith("/*");
    } else if (char === '"' || char === "'") {
      addToken("string", stringEnd(text, at, char));
    } else if (char === "`") {
      const end = unclosedTemplates < MAX_UNCLOSED ? templateEnd(text, at) : null;
      if (end === null) unclosedTemplates += 1;
      // An unclosed backtick is a character of JSX text.
      addToken(end === null ? "punctuation" : "template", end ?? at + 1);
    } else if (char === "/" && opensRegex(text, at, list.at(-1))) {
      addToken("regex", matchEnd(REGEX, text, at) ?? at + 1);
    } else if (/\d/.test(char) || (char === "." && /\d/.test(text[at + 1] ?? ""))) {
      addToken("number", matchEnd(NUMBER, text, at) ?? at + 1);
    } else if (char === "#") {
      const end = matchEnd(NAME, text, at + 1);
      addToken(end === null ? "punctuation" : "private", end ?? at + 1);
    } else {
      const end = matchEnd(NAME, text, at);
      if (end === null) addToken("punctuation", matchEnd(PUNCTUATION, text, at) ?? at + 1);
      else addToken("name", end);
    }
  }
  return { text, list, comments, partner: pairBrackets(text, list) };
}

function opensRegex(text: string, at: number, previous: Token | undefined): boolean {
  if (previous?.type === "name" && !BEFORE_REGEX.test(previous.text)) return false;
  if (previous && previous.type !== "name" && previous.type !== "punctuation") return false;
  // A slash after `<` closes a JSX element, and `/>` ends one.
  if (previous && /^(?:\)|\]|\}|<|\+\+|--)$/.test(previous.text)) return false;
  return text[at + 1] !== ">" && matchEnd(REGEX, text, at) !== null;
}

function stringEnd(text: string, start: number, quote: string): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at];
    if (char === "\\") at += 1;
    else if (char === quote) return at + 1;
    // An apostrophe in JSX text is not a string, so an unclosed string ends with the line.
    else if (char === "\n") return at;
  }
  return text.length;
}

/** Returns the end of a template literal, or null if it is unclosed. Skips literals nested in its expressions. */
function templateEnd(text: string, start: number): number | null {
  // One entry per open literal: the number of open braces in its current expression, or -1 in its text.
  const open: number[] = [-1];
  let at = start + 1;
  while (at < text.length) {
    const char = text[at]!;
    const braces = open.at(-1)!;
    if (braces === -1) {
      if (char === "\\") at += 1;
      else if (char === "`") {
        open.pop();
        if (open.length === 0) return at + 1;
      } else if (char === "$" && text[at + 1] === "{") {
        open[open.length - 1] = 0;
        at += 1;
      }
    } else if (char === "`") open.push(-1);
    else if (char === "{") open[open.length - 1] = braces + 1;
    else if (char === "}") open[open.length - 1] = braces - 1;
    else if (char === '"' || char === "'") at = stringEnd(text, at, char) - 1;
    else if (char === "/" && text[at + 1] === "*") at = blockEnd(text, at) - 1;
    else if (char === "/" && /[(,=:![&|?{]\s*$/.test(text.slice(Math.max(0, at - 20), at))) {
      at = (matchEnd(REGEX, text, at) ?? at + 1) - 1;
    }
    at += 1;
  }
  return null;
}

function pairBrackets(text: string, list: Token[]): Int32Array {
  const partner = new Int32Array(list.length).fill(list.length);
  const open: number[] = [];
  const openers: Record<string, string> = { ")": "(", "]": "[", "}": "{" };
  for (const [index, token] of list.entries()) {
    // An `export` in the first column is at the top level, so brackets that are open there are unclosed, as in JSX text.
    const isInFirstColumn = token.start === 0 || text[token.start - 1] === "\n";
    if (token.text === "export" && isInFirstColumn) open.length = 0;
    if (token.type !== "punctuation") continue;
    if (token.text === "(" || token.text === "[" || token.text === "{") open.push(index);
    const opening = openers[token.text];
    if (opening === undefined) continue;
    const depth = findOpen(list, open, opening);
    if (depth === -1) continue;
    partner[index] = open[depth]!;
    partner[open[depth]!] = index;
    open.length = depth;
  }
  return partner;
}

/** Searches only the last 50 open brackets, so that a file of mismatched brackets takes linear time. */
function findOpen(list: Token[], open: number[], opening: string): number {
  for (let depth = open.length - 1; depth >= Math.max(0, open.length - 50); depth -= 1) {
    if (list[open[depth]!]!.text === opening) return depth;
  }
  return -1;
}

function matchEnd(pattern: RegExp, text: string, at: number): number | null {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : null;
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
}

function blockEnd(text: string, at: number): number {
  const end = text.indexOf("*/", at + 2);
  return end === -1 ? text.length : end + 2;
}
