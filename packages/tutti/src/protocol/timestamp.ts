import { z } from "zod";

/** An ISO 8601 timestamp with a time zone. */
export const Timestamp = z.iso.datetime({ offset: true });

/** The meaning of a deadline or an estimate: a timestamp, a duration, or free text for humans. */
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

/** Parses both `2025-11-10T02:00:00Z` and `2 hours`. Messages keep and forward the original text. */
export function readTimeframe(text: string): Timeframe {
  if (Timestamp.safeParse(text).success) return { kind: "moment", at: new Date(text).toISOString() };
  const match = /^(\d{1,6}(?:\.\d{1,3})?) ?(second|minute|min|hour|day|week)s?$/i.exec(text.trim());
  const unit = UNITS[match?.[2]?.toLowerCase() ?? ""];
  if (!match || unit === undefined) return { kind: "words", text };
  return { kind: "duration", milliseconds: Number(match[1]) * unit };
}
