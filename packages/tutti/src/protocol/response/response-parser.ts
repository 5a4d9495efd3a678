// The `ResponseParser` of document 004. Each run has its own parser, because its template may set its own delimiters.
import { isUnclosed, MISSING_END, type BlockErrorCode, type ScannedBlock } from "./block.ts";
import { detectFallback, FALLBACK_PATTERNS, NAMED_FALLBACK_PATTERNS, type FallbackDetection } from "./fallback.ts";
import { PHASE_SCHEMAS } from "./phase-schemas.ts";
import { DEFAULT_DELIMITERS, ResponseScanner, scanBlocks } from "./response-scanner.ts";
import type { Delimiters } from "./open-block.ts";
import { readTolerantly } from "../json/tolerant-json.ts";
import { validatePhase, type PhaseValidation } from "./validate-phase.ts";

export interface ParseResult {
  /** `found` means that the text holds a complete block, readable or not. */
  found: boolean;
  phase?: string;
  data?: Record<string, unknown>;
  beforeText?: string;
  afterText?: string;
  error?: string;
  code?: BlockErrorCode;
  /** `incomplete` means that a block has started and more text may complete it. */
  incomplete?: boolean;
  repairs?: string[];
  /** The content of the block, or the whole text if there is no block. */
  raw: string;
}

export class ResponseParser {
  static readonly PHASE_SCHEMAS = PHASE_SCHEMAS;
  static readonly FALLBACK_PATTERNS = FALLBACK_PATTERNS;
  static readonly NAMED_FALLBACK_PATTERNS = NAMED_FALLBACK_PATTERNS;
  readonly delimiterStart: string;
  readonly delimiterEnd: string;

  constructor(options: Partial<Delimiters> = {}) {
    this.delimiterStart = options.delimiterStart || DEFAULT_DELIMITERS.delimiterStart;
    this.delimiterEnd = options.delimiterEnd || DEFAULT_DELIMITERS.delimiterEnd;
  }

  parse(text: string): ParseResult {
    const start = text.indexOf(this.delimiterStart);
    if (start === -1) return { found: false, raw: text };
    const first = this.#firstBlock(text, start);
    if (first === null)
      return { found: false, error: MISSING_END, code: "no_end_delimiter", incomplete: true, raw: text };
    const result = resultOf(first.block);
    if (!first.block.ok) return result;
    return { ...result, beforeText: text.slice(0, start).trim(), afterText: text.slice(first.end).trim() };
  }

  /** Returns an unclosed last block as an error. */
  parseMultiple(text: string): ParseResult[] {
    return scanBlocks(text, this).map(resultOf);
  }

  validatePhase(phase: string, data: unknown): PhaseValidation {
    return validatePhase(phase, data);
  }

  detectFallback(text: string): FallbackDetection {
    return detectFallback(text);
  }

  /** Returns the object in `text`, repaired if necessary; null if there is none, several, or only part of one. */
  extractJSON(text: string): object | null {
    const reading = readTolerantly(text);
    return reading.ok && !reading.truncated ? reading.value : null;
  }

  /** Returns `jsonString` as valid JSON, or unchanged if it cannot be repaired. */
  fixCommonJSONErrors(jsonString: string): string {
    const reading = readTolerantly(jsonString);
    return reading.ok && !reading.truncated ? reading.text : jsonString;
  }

  /** Null if no block is closed. */
  #firstBlock(text: string, start: number): { block: ScannedBlock; end: number } | null {
    const scanner = new ResponseScanner(this);
    let from = start;
    for (;;) {
      const at = text.indexOf(this.delimiterEnd, Math.max(from, start + this.delimiterStart.length));
      const end = at === -1 ? text.length : at + this.delimiterEnd.length;
      const blocks = scanner.push(text.slice(from, end));
      if (at === -1) blocks.push(...scanner.end());
      const block = blocks.find((each) => each.ok) ?? blocks.find((each) => !isUnclosed(each));
      if (block) return { block, end };
      if (at === -1) return null;
      from = end;
    }
  }
}

function resultOf(block: ScannedBlock): ParseResult {
  if (block.ok) {
    const { phase, data, raw, repairs } = block;
    return repairs.length === 0 ? { found: true, phase, data, raw } : { found: true, phase, data, raw, repairs };
  }
  if (isUnclosed(block))
    return { found: false, error: MISSING_END, code: block.code, incomplete: true, raw: block.raw };
  return { found: true, error: block.message, code: block.code, raw: block.raw };
}
