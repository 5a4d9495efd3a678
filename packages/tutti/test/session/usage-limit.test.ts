import { expect, test } from "vitest";
import { readUsageLimit } from "../../src/session/usage-limit.ts";

/** A Sunday, 13:00 in Paris. */
const NOW = Date.UTC(2026, 10, 15, 12, 0);
const at = (text: string, zone = "UTC", now = NOW) => {
  const limit = readUsageLimit(text, now, zone);
  return limit && (limit.resetAt === null ? null : new Date(limit.resetAt).toISOString());
};

test.each([
  ["Claude AI usage limit reached|1794750933", "2026-11-15T13:55:33.000Z"],
  ["Claude AI usage limit reached|1794750933000", "2026-11-15T13:55:33.000Z"],
  ["You've hit your 5-hour limit · resets 1:55pm (UTC)", "2026-11-15T13:55:00.000Z"],
  ["You've hit your limit · resets 3pm (Europe/Paris)", "2026-11-15T14:00:00.000Z"],
  ["You've hit your session limit · resets 12am (UTC)", "2026-11-16T00:00:00.000Z"],
  ["5-hour limit reached ∙ resets 9am", "2026-11-16T09:00:00.000Z"],
  ["Session limit reached, resets at 15:00", "2026-11-15T15:00:00.000Z"],
  ["Weekly limit reached ∙ resets Nov 20, 5pm (America/New_York)", "2026-11-20T22:00:00.000Z"],
  ["Weekly limit reached ∙ resets Jan 2 at 5:30pm (UTC)", "2027-01-02T17:30:00.000Z"],
  ["You've hit your usage limit. Try again in 2 hours 5 minutes.", "2026-11-15T14:05:00.000Z"],
  ["You've hit your usage limit. Try again in 1 day, 3 hours, and 4 minutes.", "2026-11-16T15:04:00.000Z"],
  ["You've hit your usage limit. Upgrade to Pro, or try again at 3:05 PM.", "2026-11-15T15:05:00.000Z"],
  ["You've hit your usage limit. Try again at Nov 20th, 2026 3:05 PM.", "2026-11-20T15:05:00.000Z"],
])("`readUsageLimit` parses: %s", (text, expected) => {
  expect(at(text)).toBe(expected);
});

test("A time without a zone is in the machine's zone", () => {
  expect(at("limit reached ∙ resets 3pm", "Asia/Tokyo")).toBe("2026-11-16T06:00:00.000Z");
  expect(at("limit reached ∙ resets 3pm", "America/Los_Angeles")).toBe("2026-11-15T23:00:00.000Z");
});

test("An unknown zone is ignored", () => {
  expect(at("limit reached ∙ resets 3pm (Mars/Base)")).toBe("2026-11-15T15:00:00.000Z");
});

test("The hour is local time, also across a change of the clocks", () => {
  const beforeChange = Date.UTC(2026, 9, 24, 20, 0);
  expect(at("limit reached ∙ resets 8am (Europe/Berlin)", "UTC", beforeChange)).toBe("2026-10-25T07:00:00.000Z");
});

test("A limit without a reset time is a limit, and other errors are not", () => {
  expect(readUsageLimit("You've hit your usage limit.", NOW)).toEqual({ resetAt: null });
  expect(readUsageLimit("limit reached ∙ resets 25pm", NOW)).toEqual({ resetAt: null });
  expect(
    readUsageLimit("API Error: Request rejected (429) · This request would exceed your rate limit", NOW),
  ).toBeNull();
  expect(readUsageLimit("Prompt is too long", NOW)).toBeNull();
});
