import { describe, expect, it } from "vitest";
import { isTimeZone, latestDue, nextDue, problemOfCron, systemTimeZone } from "../../src/schedule/cron.ts";

/** The next due times after a moment, in UTC. */
function dues(cron: string, timeZone: string, after: string, count: number): string[] {
  const found: string[] = [];
  for (let at = Date.parse(after); found.length < count;) {
    at = nextDue({ cron, timeZone }, at)!;
    found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

describe("a cron expression", () => {
  it("is evaluated in its time zone", () => {
    expect(dues("0 3 * * 1-5", "Europe/Paris", "2026-11-13T00:00:00Z", 3)).toEqual([
      "2026-11-13T02:00",
      "2026-11-16T02:00",
      "2026-11-17T02:00",
    ]);
    expect(dues("@daily", "Asia/Kolkata", "2026-11-13T00:00:00Z", 1)).toEqual(["2026-11-13T18:30"]);
  });

  it("at a fixed time inside of the gap of summer time is due once, when the gap ends", () => {
    const expected = ["2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"];
    expect(dues("30 2 * * *", "Europe/Paris", "2026-03-27T12:00:00Z", 3)).toEqual(expected);
  });

  it("at a fixed time that occurs twice is due once, the first time", () => {
    const expected = ["2026-10-24T00:30", "2026-10-25T00:30", "2026-10-26T01:30"];
    expect(dues("30 2 * * *", "Europe/Paris", "2026-10-23T12:00:00Z", 3)).toEqual(expected);
  });

  it("that recurs within the day continues evenly when clocks change", () => {
    const forward = ["2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30", "2026-03-29T02:00"];
    expect(dues("*/30 * * * *", "Europe/Paris", "2026-03-29T00:10:00Z", 4)).toEqual(forward);
    const back = ["2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30", "2026-10-25T02:00"];
    expect(dues("*/30 * * * *", "Europe/Paris", "2026-10-25T00:10:00Z", 4)).toEqual(back);
  });

  it("on days that some months lack skips no due time of the following month", () => {
    expect(dues("0 3 */15 * *", "UTC", "2027-02-16T12:00:00Z", 3)).toEqual([
      "2027-03-01T03:00",
      "2027-03-16T03:00",
      "2027-03-31T03:00",
    ]);
    expect(dues("* * */30 * *", "UTC", "2027-02-01T23:58:00Z", 2)).toEqual(["2027-02-01T23:59", "2027-03-01T00:00"]);
  });

  it("has its latest due time at the moment itself or before it", () => {
    const rule = { cron: "0 3 * * *", timeZone: "UTC" };
    const latest = (now: string) => new Date(latestDue(rule, Date.parse(now))!).toISOString();
    expect(latest("2026-11-15T02:59:59.999Z")).toBe("2026-11-14T03:00:00.000Z");
    expect(latest("2026-11-15T03:00:00.000Z")).toBe("2026-11-15T03:00:00.000Z");
    expect(latest("2026-11-15T03:00:00.999Z")).toBe("2026-11-15T03:00:00.000Z");
  });

  it("has the same due times backward and forward, also when clocks change", () => {
    for (const cron of ["30 2 * * *", "*/30 * * * *", "0 * * * *"]) {
      for (const after of ["2026-03-28T12:00:00Z", "2026-10-24T12:00:00Z"]) {
        const rule = { cron, timeZone: "Europe/Paris" };
        for (let at = Date.parse(after), i = 0; i < 60; i++) {
          at = nextDue(rule, at)!;
          expect(latestDue(rule, at), `${cron} ${new Date(at).toISOString()}`).toBe(at);
        }
      }
    }
  });

  it.each([
    ["0 3 * *", "five fields"],
    ["* * * * * *", "five fields"],
    ["2026-12-01T00:00:00", "five fields"],
    ["@reboot", "five fields"],
    ["? 3 * * *", "five fields"],
    ["61 * * * *", "61"],
    ["0 0 30 2 *", "never"],
    ["", "five fields"],
  ])("%j is rejected with a reason", (cron, problem) => {
    expect(problemOfCron(cron)).toContain(problem);
  });

  it.each(["0 3 * * 1-5", "*/15 8-18 * * MON-FRI", "0 9 1,15 * *", "0 0 L * *", "0 12 * * FRI#2", "@weekly"])(
    "%j is valid",
    (cron) => expect(problemOfCron(cron)).toBeNull(),
  );
});

it.each(["", ":/etc/localtime", "Mars/Base"])("`systemTimeZone` falls back to UTC if TZ is %j", (name) => {
  const savedTimeZone = process.env["TZ"];
  try {
    process.env["TZ"] = name;
    expect(systemTimeZone()).toBe("UTC");
    expect(nextDue({ cron: "0 3 * * *", timeZone: systemTimeZone() }, 0)).toBe(3 * 3_600_000);
  } finally {
    if (savedTimeZone === undefined) delete process.env["TZ"];
    else process.env["TZ"] = savedTimeZone;
  }
});

it("`isTimeZone` accepts only the time zones that this machine knows", () => {
  expect([isTimeZone("Europe/Paris"), isTimeZone("UTC"), isTimeZone("Mars/Base")]).toEqual([true, true, false]);
});
