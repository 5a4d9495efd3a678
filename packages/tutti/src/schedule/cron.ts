// When a cron expression is due. Only croner's arithmetic is used; the waiting is done by whoever asks, with a clock of
// their own. Where a zone's clocks are set forward, a fixed time in the gap is due when the gap ends; where they are set
// back, a fixed time that comes twice is due the first time. What recurs within the day goes on evenly through both.
import { Cron } from "croner";

/** A cron expression, and the zone in whose time it is read. */
export interface Rule {
  cron: string;
  timeZone: string;
}

const FIVE_FIELDS = /^[\w*,/#+-]+( [\w*,/#+-]+){4}$/;
const NICKNAME = /^@(yearly|annually|monthly|weekly|daily|midnight|hourly)$/;

/** A sentence on why the expression cannot be used, or null. */
export function problemOfCron(cron: string): string | null {
  if (!FIVE_FIELDS.test(cron) && !NICKNAME.test(cron)) {
    return "a cron expression of five fields: minute, hour, day of the month, month, day of the week";
  }
  try {
    const comes = read({ cron, timeZone: "UTC" }).nextRun() !== null;
    return comes ? null : "a moment that comes; this one never does";
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

/** A machine whose zone has no name that anybody knows, as with an empty `TZ`, is taken to be in that of UTC. */
export function systemTimeZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions() as { timeZone?: string };
  return timeZone !== undefined && isTimeZone(timeZone) ? timeZone : "UTC";
}

/** The first moment after this one, or null if there is none. */
export function nextDue(rule: Rule, after: number): number | null {
  const next = read(rule).nextRun(new Date(after))?.getTime() ?? null;
  // Where a month lacks a day that is asked for, croner may pass over the beginning of the one that follows. Looking back
  // it passes over nothing, so what it left out is found by halving.
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

/** The last moment up to this one, itself included, or null if there was none. */
export function latestDue(rule: Rule, now: number): number | null {
  // What is asked for lies before the second that is named.
  const [latest] = read(rule).previousRuns(1, new Date(now + 1000));
  return latest?.getTime() ?? null;
}

/** Without a function to call it starts no timer. */
const read = ({ cron, timeZone }: Rule): Cron => new Cron(cron, { timezone: timeZone, mode: "5-part" });
