// `nextDue` and `latestDue` compute the due times of cron expressions with croner. Croner's timers are not used:
// callers wait with their own clock. At the start of summer time, a fixed time inside of the gap is due when the gap
// ends. At its end, a fixed time that occurs twice is due the first time. Expressions that recur within the day
// continue evenly through both.
import { Cron } from "croner";

export interface Rule {
  cron: string;
  timeZone: string;
}

const FIVE_FIELDS = /^[\w*,/#+-]+( [\w*,/#+-]+){4}$/;
const NICKNAME = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/;

/** Returns null if `cron` is valid. */
export function problemOfCron(cron: string): string | null {
  if (!FIVE_FIELDS.test(cron) && !NICKNAME.test(cron)) {
    return "must be a cron expression of five fields: minute, hour, day of the month, month, day of the week";
  }
  try {
    const isEverDue = read({ cron, timeZone: "UTC" }).nextRun() !== null;
    return isEverDue ? null : `never occurs: ${cron}. Use a date that exists`;
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, "");
  }
}

export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name }).format();
    return true;
  } catch {
    return false;
  }
}

/** Falls back to UTC if the `timeZone` of the machine has no known name, for example with an empty `TZ`. */
export function systemTimeZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions() as { timeZone?: string };
  return timeZone !== undefined && isTimeZone(timeZone) ? timeZone : "UTC";
}

/** `nextDue` is later than `after`, or null if there is none. */
export function nextDue(rule: Rule, after: number): number | null {
  const next = read(rule).nextRun(new Date(after))?.getTime() ?? null;
  // If a month lacks the requested day, croner's `nextRun` may skip due times at the start of the following month. Its
  // `previousRuns` skips none, so a binary search with `latestDue` finds the skipped one.
  let earlier = next === null ? null : latestDue(rule, next - 1000);
  if (earlier === null || earlier <= after) return next;
  for (let low = after; earlier - low > 1000;) {
    const middle = low + Math.floor((earlier - low) / 2);
    const found = latestDue(rule, middle);
    if (found !== null && found > after) earlier = found;
    else low = middle;
  }
  return earlier;
}

/** `latestDue` is at or before `now`, or null if there was none. */
export function latestDue(rule: Rule, now: number): number | null {
  // `previousRuns` excludes the given second, so pass the next one to include `now`.
  const [latest] = read(rule).previousRuns(1, new Date(now + 1000));
  return latest?.getTime() ?? null;
}

/** A `Cron` without a callback starts no timer. */
const read = ({ cron, timeZone }: Rule): Cron => new Cron(cron, { timezone: timeZone, mode: "5-part" });
