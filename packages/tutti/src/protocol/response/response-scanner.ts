// Finds delimited blocks in the output of an agent while it streams in.
//
// 1. The blocks found do not depend on where the text is cut into chunks.
// 2. Outside a block, only a partial delimiter is buffered. Inside a block, at most `#maxBlockBytes` are buffered.
// 3. Time is linear in the length of the text. Only blocks are decoded, not the text around them.
import type { ScannedBlock } from "./block.ts";
import { ByteNeedle } from "../json/byte-needle.ts";
import { GrowingBytes } from "../json/growing-bytes.ts";
import { OpenBlock, type Closing, type Delimiters } from "./open-block.ts";

export type { ScannedBlock } from "./block.ts";
export type { Delimiters } from "./open-block.ts";

export const DEFAULT_DELIMITERS: Delimiters = {
  delimiterStart: "<<<ORCHESTRATOR_RESPONSE>>>",
  delimiterEnd: "<<<END_ORCHESTRATOR_RESPONSE>>>",
};

const DEFAULT_MAX_BLOCK_BYTES = 10 * 1024 * 1024;
/** The error of a too large block has `SHOWN_BYTES` of it as `raw`. */
const SHOWN_BYTES = 1000;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The bytes of delimiters. Runs use few different ones, and every turn of a session makes a scanner. */
const encodings = new Map<string, Uint8Array>();
const MAX_ENCODINGS = 100;

function encoded(delimiter: string): Uint8Array {
  if (encodings.size > MAX_ENCODINGS) encodings.clear();
  const bytes = encodings.get(delimiter) ?? encoder.encode(delimiter);
  encodings.set(delimiter, bytes);
  return bytes;
}

export class ResponseScanner {
  readonly #delimiters: Delimiters;
  readonly #maxBlockBytes: number;
  /** In characters; see `readBlock`. */
  readonly #maxRepair: number | undefined;
  readonly #start: ByteNeedle;
  readonly #end: ByteNeedle;
  /** `skipping`: inside a too large block, until the next delimiter of either kind. */
  #state: "outside" | "inside" | "skipping" = "outside";
  #block: OpenBlock;
  readonly #content = new GrowingBytes();
  /** Offset in `#content` of the text since the last delimiter. */
  #segment = 0;
  /** Offset in `#content` after the first end delimiter, while `#block` waits for a later one. */
  #firstEnd = 0;
  /** A high surrogate at the end of a chunk; its low surrogate comes with the next chunk. */
  #halfCharacter = "";

  constructor(options: Partial<Delimiters> & { maxBlockBytes?: number; maxRepair?: number } = {}) {
    this.#delimiters = {
      delimiterStart: options.delimiterStart || DEFAULT_DELIMITERS.delimiterStart,
      delimiterEnd: options.delimiterEnd || DEFAULT_DELIMITERS.delimiterEnd,
    };
    this.#maxBlockBytes = options.maxBlockBytes ?? DEFAULT_MAX_BLOCK_BYTES;
    this.#maxRepair = options.maxRepair;
    this.#start = new ByteNeedle(encoded(this.#delimiters.delimiterStart));
    this.#end = new ByteNeedle(encoded(this.#delimiters.delimiterEnd));
    this.#block = new OpenBlock(this.#delimiters, this.#maxRepair);
  }

  /** Returns the blocks that this chunk completes. A chunk may be cut anywhere, also inside a character. */
  push(chunk: string | Uint8Array): ScannedBlock[] {
    const blocks: ScannedBlock[] = [];
    this.#read(typeof chunk === "string" ? this.#encode(chunk) : chunk, blocks);
    return blocks;
  }

  /** Returns the blocks that are still open. A `ResponseScanner` can then read another text. */
  end(): ScannedBlock[] {
    const blocks: ScannedBlock[] = [];
    this.#halfCharacter = "";
    while (this.#state === "inside") this.#finishBlock(blocks);
    this.#leave();
    return blocks;
  }

  #read(chunk: Uint8Array, blocks: ScannedBlock[]): void {
    let at = 0;
    while (at !== -1 && at < chunk.length) {
      if (this.#state === "outside") at = this.#readOutside(chunk, at);
      else if (this.#state === "skipping") at = this.#skip(chunk, at);
      else at = this.#readInside(chunk, at, blocks);
    }
  }

  #readOutside(chunk: Uint8Array, from: number): number {
    const end = this.#start.next(chunk, from);
    if (end !== -1) this.#enter();
    return end;
  }

  #readInside(chunk: Uint8Array, from: number, blocks: ScannedBlock[]): number {
    const end = this.#end.next(chunk, from);
    const isWhole = end !== -1 && this.#content.length === 0 && end - from - this.#end.length <= this.#maxBlockBytes;
    if (isWhole) {
      this.#closeWhole(chunk, from, end, blocks);
      return end;
    }
    this.#content.append(chunk.subarray(from, end === -1 ? chunk.length : end));
    const length = this.#content.length - this.#end.length;
    if (length > this.#maxBlockBytes || (end === -1 && length === this.#maxBlockBytes)) this.#giveUpBlock(blocks);
    else if (end !== -1) this.#closeBlock(decoder.decode(this.#content.view(this.#segment, length)), blocks);
    return end;
  }

  /** Decodes a block within one chunk in place. `#content` buffers it only if it waits for a later end. */
  #closeWhole(chunk: Uint8Array, from: number, end: number, blocks: ScannedBlock[]): void {
    const closing = this.#block.close(decode(chunk, from, end - this.#end.length));
    if (closing.isOpen) {
      this.#content.append(chunk.subarray(from, end));
      this.#firstEnd = this.#content.length;
      this.#segment = this.#content.length;
    }
    this.#settle(closing, blocks);
  }

  #closeBlock(segment: string, blocks: ScannedBlock[]): void {
    if (!this.#block.isWaiting) this.#firstEnd = this.#content.length;
    this.#segment = this.#content.length;
    this.#settle(this.#block.close(segment), blocks);
  }

  #finishBlock(blocks: ScannedBlock[]): void {
    this.#settle(this.#block.finish(decoder.decode(this.#content.view(this.#segment))), blocks);
  }

  #settle(closing: Closing, blocks: ScannedBlock[]): void {
    if (closing.isOpen) return;
    for (const block of closing.blocks) blocks.push(block);
    const rest = closing.gaveUp ? this.#content.view(this.#firstEnd).slice() : null;
    this.#leave();
    if (rest !== null) this.#read(rest, blocks);
  }

  /** Handles a block beyond `maxBlockBytes`, or one that has waited too long for the end of a string. */
  #giveUpBlock(blocks: ScannedBlock[]): void {
    if (this.#block.isWaiting) {
      this.#finishBlock(blocks);
      return;
    }
    const message = `The block is larger than ${this.#maxBlockBytes} bytes`;
    const raw = decoder.decode(this.#content.view(0, Math.min(SHOWN_BYTES, this.#maxBlockBytes))).trim();
    blocks.push({ ok: false, code: "too_large", message, raw });
    const rest = this.#content.view(this.#maxBlockBytes).slice();
    this.#leave();
    this.#state = "skipping";
    this.#read(rest, blocks);
  }

  /** A start delimiter opens a new block, because the large one was never closed. */
  #skip(chunk: Uint8Array, from: number): number {
    const afterEnd = this.#end.next(chunk, from);
    const afterStart = this.#start.next(chunk, from);
    if (afterEnd === -1 && afterStart === -1) return -1;
    const isEndFirst =
      afterStart === -1 || (afterEnd !== -1 && afterEnd - this.#end.length <= afterStart - this.#start.length);
    if (isEndFirst) this.#leave();
    else this.#enter();
    return isEndFirst ? afterEnd : afterStart;
  }

  #enter(): void {
    this.#leave();
    this.#state = "inside";
    this.#block = new OpenBlock(this.#delimiters, this.#maxRepair);
  }

  #leave(): void {
    this.#state = "outside";
    this.#content.clear();
    this.#segment = 0;
    this.#firstEnd = 0;
    this.#start.reset();
    this.#end.reset();
  }

  /** Holds back a high surrogate at the end of `chunk`: encoded alone, it would become a replacement character. */
  #encode(chunk: string): Uint8Array {
    const text = this.#halfCharacter + chunk;
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#halfCharacter = isHalf ? text.slice(-1) : "";
    return encoder.encode(isHalf ? text.slice(0, -1) : text);
  }
}

/** `Buffer.toString` decodes a range without creating a view. */
function decode(bytes: Uint8Array, start: number, end: number): string {
  const isBuffer = typeof Buffer !== "undefined" && bytes instanceof Buffer;
  return isBuffer ? bytes.toString("utf8", start, end) : decoder.decode(bytes.subarray(start, end));
}

export function scanBlocks(text: string, delimiters: Partial<Delimiters> = {}): ScannedBlock[] {
  const scanner = new ResponseScanner(delimiters);
  return [...scanner.push(text), ...scanner.end()];
}
