// Moments, and the looser ways in which the documents speak of time.
import { z } from "zod";

/** A moment as ISO 8601 with its zone. */
export const Timestamp = z.iso.datetime({ offset: true });

/** What a deadline or an estimate says: a moment, a length of time, or words that only a person understands. */
export type Timeframe =
  | { kind: "moment"; at: string }
  | { kind: "duration"; milliseconds: number }
  | { kind: "words"; text: string };

const UNITS: Record<string, number> = {
  second: 1000,
  minute: 60_000,
  min: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

/** Reads `2025-11-10T02:00:00Z` and `2 hours` alike; the text itself is what messages keep and pass on. */
export function readTimeframe(text: string): Timeframe {
  if (Timestamp.safeParse(text).success) return { kind: "moment", at: new Date(text).toISOString() };
  const match = /^(\d{1,6}(?:\.\d{1,3})?) ?(second|minute|min|hour|day|week)s?$/i.exec(text.trim());
  const unit = UNITS[match?.[2]?.toLowerCase() ?? ""];
  if (!match || unit === undefined) return { kind: "words", text };
  return { kind: "duration", milliseconds: Number(match[1]) * unit };
}
