// One block of the delimited response: what stands between the two delimiters, read and judged.
import { countMembers, isRecord } from "./json-value.ts";
import { isBlockPhase } from "./phase-schemas.ts";
import { readTolerantly } from "./tolerant-json.ts";
import { unexpectedMembers, validatePhase } from "./validate-phase.ts";

export type BlockErrorCode =
  | "missing_phase"
  | "missing_data"
  | "not_json"
  | "truncated"
  | "too_large"
  | "no_end_delimiter";

/** One block found in the text. */
export type ScannedBlock =
  | { ok: true; phase: string; data: Record<string, unknown>; raw: string; repairs: string[] }
  | { ok: false; code: BlockErrorCode; message: string; raw: string };

export const MISSING_END = "Missing end delimiter";

/** Whether the block was still open when its text ended. */
export function isUnclosed(block: ScannedBlock): boolean {
  return !block.ok && block.message.startsWith(MISSING_END);
}

/** A block, and the quote of the string inside which its text broke off: the delimiter may be part of that string. */
export interface BlockReading {
  block: ScannedBlock;
  openQuote: string;
}

export function readBlock(content: string): BlockReading {
  const raw = content.trim();
  const fail = (code: BlockErrorCode, message: string, openQuote = ""): BlockReading => ({
    block: { ok: false, code, message, raw },
    openQuote,
  });
  if (raw === "") return fail("not_json", "The block is empty");
  const reading = readTolerantly(raw);
  if (!reading.ok) return fail("not_json", `Failed to parse JSON content: ${reading.reason}`);
  if (reading.truncated) {
    return fail("truncated", "The JSON content is incomplete; what there is of it is not used", reading.openQuote);
  }
  const value = unwrapped(reading.value);
  if (!isRecord(value)) return fail("not_json", "Failed to parse JSON content: There is no object");
  const { phase, data } = value;
  if (typeof phase !== "string" || phase === "") return fail("missing_phase", "Missing required field: phase");
  if (!isRecord(data)) return fail("missing_data", "Missing required field: data");
  const isSure = !reading.guessed || (fitsExactly(value, phase, data) && countMembers(value) === reading.keys);
  if (!isSure) {
    const repairs = reading.repairs.join(", ");
    return fail("not_json", `Failed to parse JSON content: It can be read in more than one way (${repairs})`);
  }
  return { block: { ok: true, phase, data, raw, repairs: reading.repairs }, openQuote: "" };
}

/** Some agents put their one answer into a list. */
function unwrapped(value: object): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

/**
 * After a guess, a member may have slipped out of the object it belongs to. That cannot have happened if every member
 * is one that the phase knows, where it knows it, and everything required is there.
 */
function fitsExactly(value: Record<string, unknown>, phase: string, data: Record<string, unknown>): boolean {
  return (
    Object.keys(value).length === 2 &&
    isBlockPhase(phase) &&
    unexpectedMembers(phase, data).length === 0 &&
    validatePhase(phase, data).valid
  );
}
