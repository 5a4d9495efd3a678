// `normaliseAnswer` reads an answer leniently before its schema is checked. Every change that could matter adds a
// warning.
import type { BlockPhase } from "../../schema/answer.ts";
import { isRecord } from "../json/json-value.ts";
import { ENTRIES, PHASE_SCHEMAS, type MemberList } from "./phase-schemas.ts";

/** The documents use several words for `in_progress`. */
const PROGRESS_WORDS = new Map([
  ["working", "in_progress"],
  ["processing", "in_progress"],
]);
const KNOWN_PROGRESS = new Set(["in_progress", "blocked", "retrying"]);
const KNOWN_AGGREGATION = new Set(["success", "needs_input", "failed"]);

/**
 * Returns a copy with the words that the schemas define. For `normaliseAnswer` an unknown aggregation status is
 * `needs_input`, because a user has to look at it.
 */
export function normaliseAnswer(
  phase: BlockPhase,
  data: Record<string, unknown>,
): { data: Record<string, unknown>; warnings: string[] } {
  const warnings: string[] = [];
  const known = { ...withoutEmptyMembers(data, PHASE_SCHEMAS[phase]) };
  const { list, members } = ENTRIES[phase] ?? {};
  const entries = list === undefined ? undefined : known[list];
  if (list !== undefined && members && Array.isArray(entries)) {
    known[list] = entries.map((entry: unknown) => (isRecord(entry) ? withoutEmptyMembers(entry, members) : entry));
  }
  const { status } = known;
  if (phase === "progress" && typeof status === "string" && !KNOWN_PROGRESS.has(status)) {
    const word = PROGRESS_WORDS.get(status);
    if (word === undefined) warnings.push(`Unknown progress status: ${status}`);
    else known.status = word;
  }
  if (phase === "aggregation" && typeof status === "string" && !KNOWN_AGGREGATION.has(status)) {
    known.status = "needs_input";
    warnings.push(`Unknown aggregation status, read as needs_input: ${status}`);
  }
  return { data: known, warnings };
}

/**
 * An agent that writes `"error": null` means that there is no error, so `withoutEmptyMembers` removes such known
 * members. Data without null, the usual case, is not copied.
 */
function withoutEmptyMembers(data: Record<string, unknown>, members: MemberList): Record<string, unknown> {
  if (!hasNull(data)) return data;
  const copy = { ...data };
  for (const name of [...members.required, ...members.optional]) if (copy[name] === null) delete copy[name];
  return copy;
}

function hasNull(data: Record<string, unknown>): boolean {
  for (const name in data) if (data[name] === null) return true;
  return false;
}
