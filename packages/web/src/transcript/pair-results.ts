import type { TranscriptEntry } from "../../../tutti/src/schema/transcript.ts";

interface ShownEntry {
  entry: TranscriptEntry;
  result?: string;
}

/** Without its call, a `toolResult` stays an entry of its own. */
export function pairResults(entries: readonly TranscriptEntry[]): ShownEntry[] {
  const results = new Map(entries.flatMap((entry) => (entry.type === "toolResult" ? [[entry.id, entry.text]] : [])));
  const called = new Set(
    entries.flatMap((entry) => (entry.type === "tool" && entry.id !== undefined ? [entry.id] : [])),
  );
  return entries.flatMap((entry): ShownEntry[] => {
    if (entry.type === "toolResult" && called.has(entry.id)) return [];
    const result = entry.type === "tool" && entry.id !== undefined ? results.get(entry.id) : undefined;
    return [result === undefined ? { entry } : { entry, result }];
  });
}
