import { countMembers, isRecord, parseJson } from "../json/json-value.ts";
import { isBlockPhase } from "./phase-schemas.ts";
import { readTolerantly } from "../json/tolerant-json.ts";
import { hasMoreValues, MAX_VALUES } from "../../schema/bounded-json.ts";
import { unexpectedMembers, validatePhase } from "./validate-phase.ts";

export type BlockErrorCode =
  | "missing_phase"
  | "missing_data"
  | "not_json"
  | "truncated"
  | "too_large"
  | "no_end_delimiter";

export type ScannedBlock =
  | { ok: true; phase: string; data: Record<string, unknown>; raw: string; repairs: string[] }
  | { ok: false; code: BlockErrorCode; message: string; raw: string };

export const MISSING_END = "Missing end delimiter";

/** True if the text ended before the end delimiter. */
export function isUnclosed(block: ScannedBlock): boolean {
  return !block.ok && block.message.startsWith(MISSING_END);
}

/** `openQuote` is that of the string in which the block breaks off. The delimiter may be part of that string. */
interface BlockReading {
  block: ScannedBlock;
  openQuote: string;
}

/** A damaged text of more than `maxRepair` characters is not repaired, because that takes long. */
export function readBlock(content: string, maxRepair = Number.POSITIVE_INFINITY): BlockReading {
  const raw = content.trim();
  const fail = (code: BlockErrorCode, message: string, openQuote = ""): BlockReading => ({
    block: { ok: false, code, message, raw },
    openQuote,
  });
  if (raw === "") return fail("not_json", "The block is empty");
  if (raw.length > maxRepair && parseJson(raw) === undefined)
    return fail("too_large", `The JSON content is damaged and too large to repair (${raw.length} characters)`);
  const reading = readTolerantly(raw);
  if (!reading.ok) return fail("not_json", `Failed to parse JSON content: ${reading.reason}`);
  if (reading.truncated) {
    return fail("truncated", "The JSON content is incomplete and was ignored", reading.openQuote);
  }
  // Each value needs at least two characters.
  if (raw.length > 2 * MAX_VALUES && hasMoreValues(reading.value, MAX_VALUES))
    return fail("too_large", `The JSON content has more than ${MAX_VALUES} values`);
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

/** Some agents wrap their answer in a list of one element. */
function unwrapped(value: object): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

/**
 * Rules out that a guessed repair moved a member into another object: every member must be one that the
 * schema of the phase allows in that object, and all required members must be present.
 */
function fitsExactly(value: Record<string, unknown>, phase: string, data: Record<string, unknown>): boolean {
  return (
    Object.keys(value).length === 2 &&
    isBlockPhase(phase) &&
    unexpectedMembers(phase, data).length === 0 &&
    validatePhase(phase, data).valid
  );
}
