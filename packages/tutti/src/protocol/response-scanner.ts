// Finds the delimited blocks in what an agent says, as it arrives.
//
// 1. Wherever the text is cut into chunks, the same blocks are found.
// 2. Outside a block nothing is kept but the beginning of a delimiter; inside one at most its largest size.
// 3. The time is linear in the length of the text. Talk is never decoded, only blocks are.
import type { ScannedBlock } from "./block.ts";
import { ByteNeedle } from "./byte-needle.ts";
import { GrowingBytes } from "./growing-bytes.ts";
import { OpenBlock } from "./open-block.ts";
import type { Closing, Delimiters } from "./open-block.ts";

export type { ScannedBlock } from "./block.ts";
export type { Delimiters } from "./open-block.ts";

export const DEFAULT_DELIMITERS: Delimiters = {
  delimiterStart: "<<<ORCHESTRATOR_RESPONSE>>>",
  delimiterEnd: "<<<END_ORCHESTRATOR_RESPONSE>>>",
};

const DEFAULT_MAX_BLOCK_BYTES = 10 * 1024 * 1024;
/** As much of a block that is too large is kept to show what it was. */
const SHOWN_BYTES = 1000;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

export class ResponseScanner {
  readonly #delimiters: Delimiters;
  readonly #maxBlockBytes: number;
  readonly #start: ByteNeedle;
  readonly #end: ByteNeedle;
  /** `skipping`: inside a block that is too large, until a delimiter of either kind. */
  #state: "outside" | "inside" | "skipping" = "outside";
  #block: OpenBlock;
  readonly #content = new GrowingBytes();
  /** Where in the content the text since the last delimiter begins. */
  #segment = 0;
  /** Where in the content the text behind the first end delimiter begins, while the block waits for a later one. */
  #firstEnd = 0;
  /** The first half of a character whose second half comes with the next chunk. */
  #halfCharacter = "";

  constructor(options: Partial<Delimiters> & { maxBlockBytes?: number } = {}) {
    this.#delimiters = {
      delimiterStart: options.delimiterStart || DEFAULT_DELIMITERS.delimiterStart,
      delimiterEnd: options.delimiterEnd || DEFAULT_DELIMITERS.delimiterEnd,
    };
    this.#maxBlockBytes = options.maxBlockBytes ?? DEFAULT_MAX_BLOCK_BYTES;
    this.#start = new ByteNeedle(encoder.encode(this.#delimiters.delimiterStart));
    this.#end = new ByteNeedle(encoder.encode(this.#delimiters.delimiterEnd));
    this.#block = new OpenBlock(this.#delimiters);
  }

  /** Blocks that became complete with this chunk of text or of UTF-8; it may be cut anywhere. */
  push(chunk: string | Uint8Array): ScannedBlock[] {
    const blocks: ScannedBlock[] = [];
    this.#read(typeof chunk === "string" ? this.#encode(chunk) : chunk, blocks);
    return blocks;
  }

  /** What is left open when the text has ended. The scanner can then be used for another text. */
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

  /** A block that lies in one chunk is read where it is; it is kept only if it has to wait for a later end. */
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

  /** The block is too large, or has been waiting for the end of a string for too long. */
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

  /** Looks for the delimiter that comes first. A start delimiter begins a new block: the large one was never closed. */
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
    this.#block = new OpenBlock(this.#delimiters);
  }

  #leave(): void {
    this.#state = "outside";
    this.#content.clear();
    this.#segment = 0;
    this.#firstEnd = 0;
    this.#start.reset();
    this.#end.reset();
  }

  /** A character of two halves may be cut in the middle; its first half waits for the second. */
  #encode(chunk: string): Uint8Array {
    const text = this.#halfCharacter + chunk;
    const last = text.charCodeAt(text.length - 1);
    const isHalf = last >= 0xd800 && last <= 0xdbff;
    this.#halfCharacter = isHalf ? text.slice(-1) : "";
    return encoder.encode(isHalf ? text.slice(0, -1) : text);
  }
}

/** Node decodes a part of its own buffers without a view of it. */
function decode(bytes: Uint8Array, start: number, end: number): string {
  const isBuffer = typeof Buffer !== "undefined" && bytes instanceof Buffer;
  return isBuffer ? bytes.toString("utf8", start, end) : decoder.decode(bytes.subarray(start, end));
}

/** All blocks of a whole text. */
export function scanBlocks(text: string, delimiters: Partial<Delimiters> = {}): ScannedBlock[] {
  const scanner = new ResponseScanner(delimiters);
  return [...scanner.push(text), ...scanner.end()];
}
