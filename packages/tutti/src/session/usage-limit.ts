// `readUsageLimit` parses messages of providers about a used-up account limit and the time of its reset. Most protocols
// have no field for it, only a sentence. Known forms: `…limit reached|EPOCH`, `resets 3pm (Europe/Paris)`, `resets at
// 15:00`, `resets Oct 9, 5pm`, `try again at 3:05 PM`, `try again in 2 hours`.

interface UsageLimit {
  /** In milliseconds since 1970; null if the message does not contain it. */
  resetAt: number | null;
}

const IS_LIMIT =
  /\b(usage|session|weekly|daily|monthly|hourly|\d+-hour|opus|sonnet) limit\b|\bhit your( \S+){0,2} limit\b|\blimit reached\b/i;
const EPOCH = /\|\s*(\d{13}|\d{10})\b/;
const AFTER = /\b(?:resets?|again) in ((?:\d+ ?[a-z]+[, ]*(?:and )?)+)/i;
const PART = /(\d+) ?(d|h|m|s)[a-z]*/gi;
const AT =
  /\b(?:resets?|again)(?: at| on)? (?:(?<month>[a-z]{3})[a-z]* (?<day>\d{1,2})(?:st|nd|rd|th)?,?(?: (?<year>\d{4}),?)?(?: at)? )?(?<hour>\d{1,2})(?::(?<minute>\d{2}))?(?: ?(?<half>[ap])\.?m\b\.?)?(?: ?\((?<zone>[\w/+-]+)\))?/i;
const PART_MS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 };
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** Null if the text is not about a limit. A time without a zone is in `zone`, by default the machine's zone. */
export function readUsageLimit(text: string, now: number, zone?: string): UsageLimit | null {
  if (!IS_LIMIT.test(text)) return null;
  return { resetAt: readEpoch(text) ?? readDuration(text, now) ?? readMoment(text, now, zone) };
}

function readEpoch(text: string): number | null {
  const digits = EPOCH.exec(text)?.[1];
  if (digits === undefined) return null;
  return digits.length === 13 ? Number(digits) : Number(digits) * 1000;
}

function readDuration(text: string, now: number): number | null {
  const words = AFTER.exec(text)?.[1];
  if (words === undefined) return null;
  const parts = [...words.matchAll(PART)];
  return now + parts.reduce((sum, [, count, unit]) => sum + Number(count) * PART_MS[unit!.toLowerCase()]!, 0);
}

interface Wall {
  year: number;
  /** From 0. */
  month: number;
  day: number;
  hour: number;
  minute: number;
}

function readMoment(text: string, now: number, defaultZone: string | undefined): number | null {
  const groups = AT.exec(text)?.groups;
  if (!groups) return null;
  const zone = isZone(groups["zone"]) ? groups["zone"] : defaultZone;
  const hour = toHour(Number(groups["hour"]), groups["half"]?.toLowerCase());
  const minute = Number(groups["minute"] ?? 0);
  if (hour === null || minute > 59) return null;
  const today = wallAt(now, zone);
  if (groups["month"] === undefined) {
    // Without a date, the next occurrence is meant.
    const at = momentOf({ ...today, hour, minute }, zone);
    return at > now ? at : momentOf({ ...today, day: today.day + 1, hour, minute }, zone);
  }
  const month = MONTHS.indexOf(groups["month"].toLowerCase());
  if (month < 0) return null;
  const day = Number(groups["day"]);
  const year = groups["year"] === undefined ? today.year : Number(groups["year"]);
  const at = momentOf({ year, month, day, hour, minute }, zone);
  const past = groups["year"] === undefined && at < now - PART_MS["d"]!;
  return past ? momentOf({ year: year + 1, month, day, hour, minute }, zone) : at;
}

/** Without `half`, the hour is on a 24-hour clock. */
function toHour(hour: number, half: string | undefined): number | null {
  if (half === undefined) return hour < 24 ? hour : null;
  if (hour < 1 || hour > 12) return null;
  return (hour % 12) + (half === "p" ? 12 : 0);
}

function isZone(zone: string | undefined): zone is string {
  try {
    return zone !== undefined && Boolean(new Intl.DateTimeFormat("en", { timeZone: zone }));
  } catch {
    return false;
  }
}

function wallAt(at: number, zone: string | undefined): Wall {
  const format = new Intl.DateTimeFormat("en", {
    ...(zone === undefined ? {} : { timeZone: zone }),
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const shown = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day, hour, minute } = shown as Record<keyof Wall, number>;
  return { year, month: month - 1, day, hour, minute };
}

/** The inverse of `wallAt`. Corrects twice, because the zone's offset may differ at the first result. */
function momentOf(wall: Wall, zone: string | undefined): number {
  const target = asUtc(wall);
  let at = target;
  for (let round = 0; round < 2; round += 1) at -= asUtc(wallAt(at, zone)) - target;
  return at;
}

const asUtc = ({ year, month, day, hour, minute }: Wall): number => Date.UTC(year, month, day, hour, minute);
