// What we read leniently in an answer before its schema is asked. Every change that could matter is named in a warning.
import type { BlockPhase } from "../schema/answer.ts";
import { isRecord } from "./json-value.ts";
import { LISTS_OF_ENTRIES, PHASE_SCHEMAS } from "./phase-schemas.ts";
import type { MemberList } from "./phase-schemas.ts";

/** The documents use several words for work in progress. */
const PROGRESS_WORDS: Record<string, string> = { working: "in_progress", processing: "in_progress" };
const KNOWN_PROGRESS = new Set(["in_progress", "blocked", "retrying"]);
const KNOWN_AGGREGATION = new Set(["success", "needs_input", "failed"]);

/** A copy of the data in the words that the schemas know. An unknown way for a merge to end needs a person's eye. */
export function normaliseAnswer(
  phase: BlockPhase,
  data: Record<string, unknown>,
): { data: Record<string, unknown>; warnings: string[] } {
  const warnings: string[] = [];
  const known = withoutEmptyMembers(data, PHASE_SCHEMAS[phase]);
  for (const [name, kind] of LISTS_OF_ENTRIES) {
    const members = PHASE_SCHEMAS[phase][kind];
    const entries = known[name];
    if (!members || !Array.isArray(entries)) continue;
    known[name] = entries.map((entry: unknown) => (isRecord(entry) ? withoutEmptyMembers(entry, members) : entry));
  }
  const { status } = known;
  if (phase === "progress" && typeof status === "string") {
    const word = (Object.hasOwn(PROGRESS_WORDS, status) ? PROGRESS_WORDS[status] : undefined) ?? status;
    known.status = word;
    if (!KNOWN_PROGRESS.has(word)) warnings.push(`Unknown progress status: ${status}`);
  }
  if (phase === "aggregation" && typeof status === "string" && !KNOWN_AGGREGATION.has(status)) {
    known.status = "needs_input";
    warnings.push(`Unknown aggregation status, read as needs_input: ${status}`);
  }
  return { data: known, warnings };
}

/** An agent that writes `"error": null` means that there is none. */
function withoutEmptyMembers(data: Record<string, unknown>, members: MemberList): Record<string, unknown> {
  const copy = { ...data };
  for (const name of [...members.required, ...members.optional]) if (copy[name] === null) delete copy[name];
  return copy;
}
