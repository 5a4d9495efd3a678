// Walks over one damaged object or list, from its opening bracket to its closing one, and notes the edits that make it
// JSON. One pass, no recursion, and nothing looked at more than a bounded distance ahead.
import { readBareValue } from "./bare-value.ts";
import { readDamagedString } from "./damaged-string.ts";
import { isSpace, ODD, skipGap, skipOdd, skipSpace } from "./json-gap.ts";
import { readKey } from "./json-key.ts";
import { passSoundString, readString } from "./json-string.ts";
import type { Reading, RepairDraft } from "./repair-draft.ts";
import { passSoundRow } from "./sound-row.ts";
import { isQuote, isWordCode, looksLikeKey, wordEnd } from "./string-end.ts";

export const MAX_DEPTH = 200;

type Container = "{" | "[" | "(" | "call";
type Step = "member" | "element" | "value" | "next" | "complete" | "cut" | "refused";

const LONGEST_NAME = 40;
const CLOSERS: Record<Container, number> = { "{": 125, "[": 93, "(": 41, call: 41 };
const WRITTEN: Record<Container, string> = { "{": "}", "[": "]", "(": "]", call: "" };

export class JsonRepairer {
  /** Keys met, to notice when two of one object have the same name. */
  keys = 0;
  /** Something was left out with `...`. */
  leftOut = false;
  readonly #draft: RepairDraft;
  readonly #stack: Container[] = [];
  /** Where each of the open containers begins. */
  readonly #opened: number[] = [];
  /** Up to here the text is sound and can be shown even if the rest is missing. */
  #goodEnd = 0;
  #goodEdits = 0;
  /** The comma before the entry that is being read, and the edits made before it; -1 if there is none. */
  #commaAt = -1;
  #commaEdits = 0;

  constructor(draft: RepairDraft) {
    this.#draft = draft;
  }

  run(): "complete" | "cut" | "refused" {
    let step: Step = "value";
    for (;;) {
      switch (step) {
        case "member":
          step = this.#member();
          break;
        case "element":
          step = this.#element();
          break;
        case "value":
          step = this.#value();
          break;
        case "next":
          step = this.#next();
          break;
        default:
          return step;
      }
    }
  }

  /** The repaired text from `from` on, closed where it was cut. */
  render(from: number): string {
    const open = this.#stack.toReversed().map((container) => WRITTEN[container]);
    return this.#draft.render(from, this.#goodEnd, this.#goodEdits) + open.join("");
  }

  /** What a string or a word stands in. */
  get #role(): "member" | "element" {
    return this.#stack.at(-1) === "{" ? "member" : "element";
  }

  #member(): Step {
    const draft = this.#draft;
    skipGap(draft);
    this.#passSoundRow(true);
    const before = this.#beforeEntry();
    if (before !== null) return before;
    const isQuoted = isQuote(draft.text, draft.pos);
    const key = readKey(draft);
    if (key !== "read") return key;
    this.keys++;
    skipGap(draft);
    return this.#colon(isQuoted);
  }

  #colon(isQuoted: boolean): Step {
    const draft = this.#draft;
    const { text, pos } = draft;
    const code = text.charCodeAt(pos);
    if (pos === text.length) return "cut";
    if (code === 58) this.#skipColons();
    else if (code === 0xff1a || code === 61) {
      const length = text.startsWith("=>", pos) ? 2 : 1;
      draft.edit("other sign for a colon", pos, pos + length, ":");
      draft.pos += length;
    } else if (isQuote(text, pos) || "{[(".includes(text.charAt(pos)) || (isQuoted && isWordCode(code))) {
      // A word without quotes can be the value if it is clear that the key has ended before it.
      draft.edit("missing colon", pos, pos, ":");
    } else return draft.refuse("a colon is expected");
    skipGap(draft);
    return draft.pos === text.length ? "cut" : "value";
  }

  #skipColons(): void {
    const draft = this.#draft;
    const start = ++draft.pos;
    while (draft.text.charCodeAt(draft.pos) === 58) draft.pos++;
    if (draft.pos > start) draft.edit("other sign for a colon", start, draft.pos, "");
  }

  #element(): Step {
    skipGap(this.#draft);
    this.#passSoundRow(false);
    return this.#beforeEntry() ?? "value";
  }

  #passSoundRow(isObject: boolean): void {
    const draft = this.#draft;
    const row = passSoundRow(draft.text, draft.pos, isObject);
    if (row.entries === 0) return;
    if (isObject) this.keys += row.entries;
    draft.pos = row.valueEnd;
    this.#markGood();
    this.#commaAt = draft.text.indexOf(",", draft.pos);
    this.#commaEdits = draft.edits;
    draft.pos = row.next;
  }

  /** What may stand where a member or an element is expected and is none; null if there is nothing of that kind. */
  #beforeEntry(): Step | null {
    const draft = this.#draft;
    const { text, pos } = draft;
    const code = text.charCodeAt(pos);
    if (code === 34 || code === 123) return null;
    if (pos === text.length) return "cut";
    if (isCloser(code)) return this.#close(code);
    if (code === 44 || code === 0xff0c) {
      draft.edit("extra comma", pos, pos + 1, "");
      draft.pos++;
      return this.#role;
    }
    return isEllipsis(text, pos) ? this.#skipEllipsis("", this.#role) : null;
  }

  #value(): Step {
    const draft = this.#draft;
    const { text, pos } = draft;
    const code = text.charCodeAt(pos);
    if (code === 123) return this.#open("{", 1);
    if (code === 91) return this.#open("[", 1);
    const role = this.#role;
    if (passSoundString(draft, role)) return this.#scalar("read");
    if (code === 40) {
      draft.edit("tuple for a list", pos, pos + 1, "[");
      return this.#open("(", 1);
    }
    if (this.#stack.at(-1) === "[" && isKeyInList(text, pos)) return this.#endLists();
    if (isQuote(text, pos)) return this.#scalar(readDamagedString(draft, role));
    if (isEllipsis(text, pos)) return this.#skipEllipsis("null", "next");
    return this.#wrapper(pos, wordEnd(text, pos, pos + LONGEST_NAME)) ?? this.#scalar(readBareValue(draft, role));
  }

  /** `NumberLong(5)`, `new Date("…")` and `u"…"` are the value they wrap. */
  #wrapper(pos: number, word: number): Step | null {
    const draft = this.#draft;
    const { text } = draft;
    if (word === pos) return null;
    if (text.charCodeAt(word) === 40) {
      draft.edit("type wrapper", pos, word + 1, "");
      return this.#open("call", word + 1 - pos);
    }
    if (text.startsWith("new ", pos)) {
      const name = skipSpace(text, word);
      const end = wordEnd(text, name, name + LONGEST_NAME);
      return end > name && text.charCodeAt(end) === 40 ? this.#wrapper(pos, end) : null;
    }
    const isPrefix = word === pos + 1 && /^[ub]["']/.test(text.slice(pos, pos + 2));
    if (!isPrefix) return null;
    draft.edit("string prefix", pos, word, "");
    draft.pos = word;
    return this.#scalar(readString(draft, this.#role));
  }

  #open(container: Container, length: number): Step {
    const draft = this.#draft;
    if (this.#stack.length >= MAX_DEPTH) return draft.refuse("nested too deeply");
    this.#opened[this.#stack.length] = draft.pos;
    this.#stack.push(container);
    draft.pos += length;
    this.#commaAt = -1;
    if (container === "call") {
      skipGap(draft);
      return draft.pos === draft.text.length ? "cut" : "value";
    }
    this.#markGood();
    return this.#role;
  }

  #scalar(reading: Reading): Step {
    if (reading === "read" || (reading === "cut" && this.#draft.openQuote !== "")) this.#markGood();
    return reading === "read" ? "next" : reading;
  }

  #next(): Step {
    const draft = this.#draft;
    const newLine = skipGap(draft);
    const { text, pos } = draft;
    const code = text.charCodeAt(pos);
    if (isCloser(code)) return this.#close(code);
    if (pos === text.length) return "cut";
    const container = this.#stack.at(-1);
    if (container === "call") return draft.refuse("a closing parenthesis is expected");
    if (code === 44 || code === 59 || code === 0xff0c) return this.#comma(code);
    if (isEllipsis(text, pos)) return this.#skipEllipsis("", "next");
    this.#commaAt = -1;
    if (container === "[" && isKeyInList(text, pos)) return this.#endLists();
    const startsEntry =
      container === "{"
        ? looksLikeKey(text, pos) || (newLine && isQuote(text, pos))
        : container === "[" && (newLine || isQuote(text, pos) || code === 123 || code === 91);
    if (!startsEntry) return draft.refuse("a comma or a closing bracket is expected");
    draft.edit("missing comma", pos, pos, ",");
    return this.#role;
  }

  #comma(sign: number): Step {
    const draft = this.#draft;
    const { text, pos } = draft;
    this.#commaAt = pos;
    this.#commaEdits = draft.edits;
    let commas = 0;
    let odd = false;
    do {
      commas++;
      draft.pos++;
      odd = (skipOdd(draft) & ODD) !== 0 || odd;
    } while (text.charCodeAt(draft.pos) === 44);
    const next = text.charCodeAt(draft.pos);
    const isPlain = sign === 44 && commas === 1 && !odd;
    if (isPlain && (next === 34 || next === 123)) return this.#role;
    const gap = odd || commas > 1 ? " " : text.slice(pos + 1, draft.pos);
    if (isEllipsis(text, draft.pos)) {
      draft.replace(pos, draft.pos, gap);
      return this.#skipEllipsis("", "next");
    }
    if (isCloser(next)) draft.edit("trailing comma", pos, draft.pos, gap);
    else if (commas > 1) draft.edit("extra comma", pos, draft.pos, `,${gap}`);
    else if (sign !== 44) draft.edit("other sign for a comma", pos, draft.pos, `,${gap}`);
    else if (odd) draft.replace(pos + 1, draft.pos, gap);
    return this.#role;
  }

  /** In a list, a key with its colon can only belong to the object around it: the list was not closed. */
  #endLists(): Step {
    const draft = this.#draft;
    const depth = this.#stack.lastIndexOf("{");
    const lists = this.#stack.splice(depth + 1);
    if (depth === -1 || lists.length > 1 || lists[0] !== "[" || this.#holdsList(depth + 1)) return draft.refuse("a list is not closed");
    const start = this.#commaAt === -1 ? draft.pos : this.#commaAt;
    if (this.#commaAt !== -1) draft.undo(this.#commaEdits);
    draft.edit("missing closing bracket", start, draft.pos, "], ");
    return "member";
  }

  /** Goes on after `...`. Where an entry is expected, a comma behind the dots goes with them. */
  #skipEllipsis(written: string, then: "next" | "member" | "element"): Step {
    const draft = this.#draft;
    const { text, pos } = draft;
    this.leftOut = true;
    let end = pos + (text.startsWith("...", pos) ? 3 : 1);
    const comma = skipSpace(text, end);
    if (then !== "next" && text.charCodeAt(comma) === 44) end = comma + 1;
    draft.edit("something left out (...)", pos, end, written);
    draft.pos = end;
    return then;
  }

  #close(code: number): Step {
    const draft = this.#draft;
    const closed = this.#stack.at(-1);
    if (closed === undefined || CLOSERS[closed] !== code) {
      const unfit = this.#closeUnfit(code);
      if (unfit !== null) return unfit;
    }
    if (code === 41) draft.replace(draft.pos, draft.pos + 1, this.#stack.at(-1) === "call" ? "" : "]");
    this.#stack.pop();
    draft.pos++;
    this.#markGood();
    return this.#stack.length === 0 ? "complete" : "next";
  }

  /** A closing bracket that does not fit what is open: others are missing before it, or it is one too many. */
  #closeUnfit(code: number): Step | null {
    const draft = this.#draft;
    const depth = this.#stack.findLastIndex((container) => CLOSERS[container] === code);
    if (depth === -1) {
      draft.edit("extra closing bracket", draft.pos, draft.pos + 1, "");
      draft.pos++;
      return "next";
    }
    const missing = this.#stack.splice(depth + 1).toReversed();
    if (missing.includes("call")) return draft.refuse("a closing parenthesis is expected");
    if (missing.length > 1 || this.#holdsList(depth + 1)) return draft.refuse("a list is not closed");
    draft.edit("missing closing bracket", draft.pos, draft.pos, missing.map((each) => WRITTEN[each]).join(""));
    return null;
  }

  /** In a list of lists nobody can tell a bracket that is missing from an opening one that is too many. */
  #holdsList(depth: number): boolean {
    const { text } = this.#draft;
    return text.charCodeAt(skipSpace(text, (this.#opened[depth] ?? 0) + 1)) === 91;
  }

  #markGood(): void {
    this.#goodEnd = this.#draft.pos;
    this.#goodEdits = this.#draft.edits;
  }
}

function isEllipsis(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 0x2026 || (code === 46 && text.startsWith("...", at));
}

/** `}`, `]` and `)`. */
function isCloser(code: number): boolean {
  return code === 125 || code === 93 || code === 41;
}

/** Whether a key stands where an element of a list should; without quotes, only with a space behind its colon. */
function isKeyInList(text: string, at: number): boolean {
  return looksLikeKey(text, at) && (isQuote(text, at) || isSpace(text.charCodeAt(text.indexOf(":", at) + 1)));
}
