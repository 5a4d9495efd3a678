// Walks over one damaged object or list, from its opening to its closing bracket, and records in `RepairDraft` the
// edits that make it JSON. It is a single pass without recursion and with bounded lookahead.
import { readBareValue } from "./bare-value.ts";
import { readDamagedString } from "./damaged-string.ts";
import { ContainerStack, MAX_DEPTH, type Container } from "./container-stack.ts";
import { ODD, skipGap, skipOdd, skipSpace } from "./json-gap.ts";
import { hasStringPrefix, isCloser, isEllipsis, isKeyInList, wrapperLength } from "./json-sign.ts";
import { readColon, readKey } from "./json-key.ts";
import { passSoundString, readString } from "./json-string.ts";
import { Mark, type TokenOutcome, type RepairDraft } from "./repair-draft.ts";
import { SoundRow } from "./sound-row.ts";
import { isQuote, looksLikeKey } from "./string-end.ts";

type Step = "member" | "element" | "value" | "next" | "complete" | "cut" | "refused";

export class JsonRepairer {
  /** True if the text leaves something out with `...`. */
  leftOut = false;
  readonly #draft: RepairDraft;
  readonly #row: SoundRow;
  readonly #open = new ContainerStack();
  readonly #lastComma = new Mark();

  constructor(draft: RepairDraft) {
    this.#draft = draft;
    this.#row = new SoundRow(draft, this.#open, this.#lastComma);
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

  /** Closes containers that were cut off. */
  render(): string {
    return this.#draft.render(this.#open.closing());
  }

  get #role(): "member" | "element" {
    return this.#open.top === "{" ? "member" : "element";
  }

  #member(): Step {
    const draft = this.#draft;
    skipGap(draft);
    const early = this.#passRow("member") ?? this.#beforeEntry();
    if (early !== null) return early;
    const isQuoted = isQuote(draft.text, draft.pos);
    const key = readKey(draft);
    if (key !== "read") return key;
    draft.keys++;
    draft.hasUnusualKeys = true;
    const colon = readColon(draft, isQuoted);
    return colon === "read" ? "value" : colon;
  }

  #element(): Step {
    skipGap(this.#draft);
    return this.#passRow("element") ?? this.#beforeEntry() ?? "value";
  }

  /** Lets `SoundRow` pass the easy entries. Returns null if the next entry has to be read with care. */
  #passRow(role: "member" | "element"): Step | null {
    const then = this.#row.pass();
    if (then === "entry") return this.#role === role ? null : this.#role;
    return then === "gap" ? this.#role : then;
  }

  /**
   * Handles a closing bracket, an extra comma, an ellipsis or the end of the text where an entry is
   * expected. Returns null if an entry follows.
   */
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
    if (code === 123) return this.#enter("{", 1);
    if (code === 91) return this.#enter("[", 1);
    const role = this.#role;
    if (passSoundString(draft, role)) return this.#scalar("read");
    if (code === 40) {
      draft.edit("tuple for a list", pos, pos + 1, "[");
      return this.#enter("(", 1);
    }
    if (this.#open.top === "[" && isKeyInList(text, pos)) return this.#endList();
    if (isQuote(text, pos)) return this.#scalar(readDamagedString(draft, role));
    if (isEllipsis(text, pos)) return this.#skipEllipsis("null", "next");
    const wrapper = wrapperLength(text, pos);
    if (wrapper > 0) {
      draft.edit("type wrapper", pos, pos + wrapper, "");
      return this.#enter("call", wrapper);
    }
    if (hasStringPrefix(text, pos)) {
      draft.edit("string prefix", pos, pos + 1, "");
      draft.pos++;
      return this.#scalar(readString(draft, role));
    }
    return this.#scalar(readBareValue(draft, role));
  }

  #enter(container: Container, length: number): Step {
    const draft = this.#draft;
    if (this.#open.depth >= MAX_DEPTH) return draft.refuse("nested too deeply");
    this.#open.push(container, draft.pos);
    draft.pos += length;
    this.#lastComma.at = -1;
    if (container === "call") {
      skipGap(draft);
      return draft.pos === draft.text.length ? "cut" : "value";
    }
    this.#draft.settle(this.#draft.pos);
    return this.#role;
  }

  #scalar(reading: TokenOutcome): Step {
    if (reading === "read" || (reading === "cut" && this.#draft.openQuote !== "")) this.#draft.settle(this.#draft.pos);
    return reading === "read" ? "next" : reading;
  }

  #next(): Step {
    const draft = this.#draft;
    const newLine = skipGap(draft);
    const { text, pos } = draft;
    const code = text.charCodeAt(pos);
    if (isCloser(code)) return this.#close(code);
    if (pos === text.length) return "cut";
    const container = this.#open.top;
    if (container === "call") return draft.refuse("a closing parenthesis is expected");
    if (code === 44 || code === 59 || code === 0xff0c) return this.#comma(code);
    if (isEllipsis(text, pos)) return this.#skipEllipsis("", "next");
    this.#lastComma.at = -1;
    if (container === "[" && isKeyInList(text, pos)) return this.#endList();
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
    this.#lastComma.set(draft, pos);
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
    if (isPlain && isCloser(next)) {
      draft.edit("trailing comma", pos, pos + 1, "");
      return this.#close(next);
    }
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

  /** A key with a colon inside a list belongs to the enclosing object, so the list was not closed. */
  #endList(): Step {
    const draft = this.#draft;
    const bracket = this.#open.closeByGuess(draft.text);
    if (bracket === null || this.#open.top !== "{") return draft.refuse("a list is not closed");
    const comma = this.#lastComma;
    const start = comma.at === -1 ? draft.pos : comma.at;
    if (comma.at !== -1) draft.undo(comma);
    draft.edit("missing closing bracket", start, draft.pos, `${bracket}, `);
    return "member";
  }

  /** Skips the comma after the dots too, where an entry is expected. */
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
    if (!this.#open.isClosedBy(code)) {
      const unfit = this.#closeUnfit(code);
      if (unfit !== null) return unfit;
    }
    if (code === 41) draft.replace(draft.pos, draft.pos + 1, this.#open.top === "call" ? "" : "]");
    this.#open.pop();
    draft.pos++;
    this.#draft.settle(this.#draft.pos);
    return this.#open.depth === 0 ? "complete" : "next";
  }

  /** `code` does not match the open container: `#closeUnfit` inserts one missing bracket or drops the extra one. */
  #closeUnfit(code: number): Step | null {
    const draft = this.#draft;
    const missing = this.#open.openInside(code);
    if (missing === -1) {
      draft.edit("extra closing bracket", draft.pos, draft.pos + 1, "");
      draft.pos++;
      return "next";
    }
    const bracket = missing > 1 ? null : this.#open.closeByGuess(draft.text);
    if (bracket === null) return draft.refuse("brackets are missing");
    draft.edit("missing closing bracket", draft.pos, draft.pos, bracket);
    return null;
  }
}
