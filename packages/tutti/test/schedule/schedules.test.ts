import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TuttiError } from "../../src/schema/error.ts";
import { ScheduleLab } from "./schedule-lab.ts";

let lab: ScheduleLab;
beforeEach(() => {
  lab = new ScheduleLab("2026-11-16T02:00:00Z");
  lab.config = { schedules: { nightly: { cron: "0 3 * * *" } } };
});
afterEach(() => lab.tearDown());

/** Passes time without a server. */
async function away(until: string): Promise<void> {
  await lab.stop();
  await lab.world.until(until);
  await lab.begin();
}

describe("a schedule", () => {
  it("creates and starts one run at each due time, and none in between", async () => {
    await lab.begin();
    expect(lab.schedule()).toMatchObject({ nextDue: "2026-11-16T03:00:00.000Z", lastDue: null, lastRun: null });
    await lab.world.until("2026-11-16T02:59:59Z");
    expect(lab.runs.list).toEqual([]);
    await lab.world.until("2026-11-16T03:30:00Z");
    expect(lab.runs.list).toMatchObject([
      { status: "analyzing", request: { message: "write it down", config: { autoSpawn: false } } },
    ]);
    expect(lab.runs.told).toEqual([
      { type: "schedule:fired", data: { name: "nightly", due: Date.parse("2026-11-16T03:00:00Z"), run: "orch_1" } },
    ]);
    expect(lab.schedule()).toMatchObject({
      running: 1,
      nextDue: "2026-11-17T03:00:00.000Z",
      lastDue: "2026-11-16T03:00:00.000Z",
      lastRun: { id: "orch_1", due: "2026-11-16T03:00:00.000Z", status: "analyzing" },
      lastSkipped: null,
    });
    lab.runs.end();
    lab.world.set("2026-11-17T02:59:00Z");
    await lab.world.until("2026-11-17T03:30:00Z");
    expect(lab.runs.times).toEqual(["2026-11-16T03:00", "2026-11-17T03:00"]);
  });

  it("does not miss its time because others, due at the same time, were started first", async () => {
    const names = ["a", "b", "c", "d", "e"];
    lab.config = { schedules: Object.fromEntries(names.map((name) => [name, { cron: "0 3 * * *" }])) };
    lab.runs.createTakesMs = 30_000;
    await lab.begin();
    await lab.world.until("2026-11-16T03:10:00Z");
    expect(names.map((name) => lab.schedule(name)!.lastSkipped)).toEqual(names.map(() => null));
    expect(lab.runs.list).toHaveLength(names.length);
  });

  it("passes variables, agent, budget and confirmation to its run", async () => {
    const more = { variables: { TONE: "short" }, agent: "claude", budget: { usd: 2 }, confirm: "yes" };
    lab.config = { schedules: { nightly: { cron: "0 3 * * *", ...more } } };
    await lab.begin();
    await lab.world.until("2026-11-16T03:01:00Z");
    const expected = { customVariables: { TONE: "short" }, agent: "claude", budget: { usd: 2 } };
    expect(lab.runs.list[0]!.request).toMatchObject({ ...expected, config: { autoSpawn: true } });
  });

  it("skips a due time while maxConcurrent runs are open, and reports it", async () => {
    lab.config = { schedules: { nightly: { cron: "0 * * * *", maxConcurrent: 2 } } };
    await lab.begin();
    await lab.world.until("2026-11-16T05:01:00Z");
    expect(lab.runs.times).toEqual(["2026-11-16T03:00", "2026-11-16T04:00"]);
    const reason =
      'The limit "maxConcurrent" is reached by open runs: orch_1, orch_2. Wait until one ends, or cancel one.';
    const due = "2026-11-16T05:00:00.000Z";
    expect(lab.schedule()).toMatchObject({ running: 2, lastDue: due, lastSkipped: { due, at: due, reason } });
    expect(lab.runs.told.at(-1)).toEqual({
      type: "schedule:skipped",
      data: { name: "nightly", due: Date.parse(due), reason },
    });
    lab.runs.end();
    await lab.world.until("2026-11-16T06:01:00Z");
    expect(lab.runs.times.at(-1)).toBe("2026-11-16T06:00");
    expect(lab.schedule()).toMatchObject({ running: 1, lastSkipped: { due } });
  });

  it("can be started by hand, also while it is disabled, but not beyond maxConcurrent", async () => {
    lab.config = { schedules: { nightly: { cron: "0 3 * * *", enabled: false } } };
    await lab.begin();
    const launched = await lab.automation.schedules.runNow("nightly");
    expect(launched).toEqual({ run: "orch_1", status: "analyzing", isNew: true });
    await expect(lab.automation.schedules.runNow("nightly")).rejects.toMatchObject({ code: "too_many_runs" });
    await expect(lab.automation.schedules.runNow("toString")).rejects.toMatchObject({ code: "not_found" });
    expect(lab.schedule()).toMatchObject({ nextDue: null, lastRun: { id: "orch_1", due: null } });
    lab.runs.end();
    await lab.world.until("2026-11-16T04:00:00Z");
    expect(lab.runs.list).toHaveLength(1);
  });
});

describe("a due time while no server runs", () => {
  it("is skipped with a reason by default", async () => {
    await lab.begin();
    await away("2026-11-18T08:00:00Z");
    await lab.world.until("2026-11-18T08:05:00Z");
    expect(lab.runs.list).toEqual([]);
    const reason = "No run could start at the due time.";
    const due = "2026-11-18T03:00:00.000Z";
    expect(lab.schedule()).toMatchObject({ lastSkipped: { due, reason }, nextDue: "2026-11-19T03:00:00.000Z" });
    expect(lab.runs.told).toHaveLength(1);
  });

  it("starts one run at the next start of a server if missed is once, however many were missed", async () => {
    lab.config = { schedules: { nightly: { cron: "0 3 * * *", missed: "once" } } };
    await lab.begin();
    await away("2026-11-18T08:00:00Z");
    await lab.world.until("2026-11-18T08:05:00Z");
    expect(lab.runs.times).toEqual(["2026-11-18T08:00"]);
    expect(lab.schedule()).toMatchObject({ lastRun: { due: "2026-11-18T03:00:00.000Z" } });
    lab.runs.end();
    await away("2026-11-18T10:00:00Z");
    expect(lab.runs.list).toHaveLength(1);
  });

  it("is not missed if a server starts within a minute", async () => {
    await lab.begin();
    await away("2026-11-16T03:00:40Z");
    await lab.world.until("2026-11-16T03:10:00Z");
    expect(lab.runs.times).toEqual(["2026-11-16T03:00"]);
  });

  it("does not count for a new schedule", async () => {
    lab.config = { schedules: { nightly: { cron: "0 3 * * *", missed: "once" } } };
    await lab.world.until("2026-11-16T03:00:10Z");
    await lab.begin();
    await lab.world.until("2026-11-16T03:10:00Z");
    expect(lab.runs.list).toEqual([]);
  });
});

describe("a run that a server created and did not start before it died", () => {
  it("is started by the next server, however late, and its due time creates no second run", async () => {
    await lab.begin();
    lab.runs.startFails = new TuttiError("engine_stopped", "killed");
    await lab.world.until("2026-11-16T03:00:10Z");
    expect(lab.runs.list).toMatchObject([{ status: "created" }]);
    await lab.stop();
    lab.runs.startFails = null;
    await away("2026-11-16T09:00:00Z");
    await lab.world.until("2026-11-16T09:05:00Z");
    expect(lab.runs.list).toMatchObject([{ status: "analyzing" }]);
    expect(lab.schedule()).toMatchObject({ lastDue: "2026-11-16T03:00:00.000Z", lastSkipped: null });
  });

  it("is cancelled if it can never start, and does not count towards maxConcurrent", async () => {
    await lab.begin();
    lab.runs.startFails = new TuttiError("folder_not_found", "there is no such folder");
    await lab.world.until("2026-11-16T03:05:00Z");
    expect(lab.runs.list).toMatchObject([{ status: "cancelled" }]);
    expect(lab.schedule()).toMatchObject({ running: 0, lastSkipped: { reason: "there is no such folder" } });
  });
});

describe("a run that cannot be created", () => {
  it("is reported as skipped and not retried", async () => {
    await lab.begin();
    lab.runs.createFails = new TuttiError("template_not_found", "there is no template x");
    await lab.world.until("2026-11-16T03:05:00Z");
    lab.runs.createFails = null;
    await lab.world.until("2026-11-16T03:10:00Z");
    expect(lab.schedule()).toMatchObject({ lastSkipped: { reason: "there is no template x" }, lastRun: null });
    expect(lab.runs.told).toHaveLength(1);
  });

  it("because of a temporary error is retried until the due time is missed", async () => {
    await lab.begin();
    lab.runs.createFails = new TuttiError("git_failed", "git is busy");
    await lab.world.until("2026-11-16T03:00:10Z");
    expect(lab.schedule()).toMatchObject({ problem: "git is busy", lastDue: null });
    lab.runs.createFails = null;
    await lab.world.until("2026-11-16T03:00:40Z");
    expect(lab.runs.times).toEqual(["2026-11-16T03:00"]);
    expect(lab.schedule()).toMatchObject({ problem: null });
    lab.runs.end();
    lab.runs.createFails = new TuttiError("git_failed", "git is busy");
    lab.world.set("2026-11-17T02:59:00Z");
    await lab.world.until("2026-11-17T03:10:00Z");
    expect(lab.schedule()).toMatchObject({ problem: null, lastSkipped: { due: "2026-11-17T03:00:00.000Z" } });
    const once = "schedule failed and will be retried";
    expect(lab.reported).toEqual([once, once, "due time skipped"]);
  });
});

describe("a configuration that changes while the server runs", () => {
  it("applies at once; times due under another rule, while disabled or while removed are not made up for", async () => {
    const missed = "once";
    lab.config = { schedules: { nightly: { cron: "0 3 * * *", missed } } };
    await lab.begin();
    const until = async (time: string, schedules: Record<string, object>) => {
      lab.config = { schedules };
      await lab.world.until(`2026-11-16T${time}:00Z`);
      lab.runs.end();
    };
    const early = { cron: "50 1 * * *", missed };
    const hourly = { cron: "0 * * * *", missed };
    await until("02:30", { nightly: early });
    await until("03:30", { nightly: hourly });
    await until("04:30", { nightly: { ...hourly, enabled: false } });
    await until("04:40", { nightly: hourly });
    await until("05:30", {});
    await until("06:30", { nightly: hourly });
    expect(lab.runs.times).toEqual(["2026-11-16T03:00", "2026-11-16T06:00"]);
  });

  it("and becomes invalid keeps the old schedules and reports why; times due meanwhile are missed", async () => {
    await lab.begin();
    lab.broken = new TuttiError("usage", "tutti.config.json is not JSON");
    await lab.world.until("2026-11-16T03:30:00Z");
    expect(lab.schedule()).toMatchObject({ cron: "0 3 * * *", problem: "tutti.config.json is not JSON" });
    await expect(lab.automation.schedules.runNow("nightly")).rejects.toMatchObject({ code: "wrong_state" });
    expect(lab.runs.list).toEqual([]);
    lab.broken = null;
    await lab.world.until("2026-11-16T03:31:00Z");
    lab.world.set("2026-11-17T02:59:00Z");
    await lab.world.until("2026-11-17T03:05:00Z");
    expect(lab.runs.times).toEqual(["2026-11-17T03:00"]);
    expect(lab.schedule()).toMatchObject({ problem: null, lastSkipped: { due: "2026-11-16T03:00:00.000Z" } });
    expect(lab.reported).toEqual(["configuration is invalid", "due time skipped"]);
  });
});

describe("a clock that is set", () => {
  it("back creates no second run for a time that occurs again", async () => {
    await lab.begin();
    await lab.world.until("2026-11-16T03:30:00Z");
    lab.runs.end();
    lab.world.set("2026-11-16T02:00:00Z");
    await lab.world.until("2026-11-16T04:00:00Z");
    expect(lab.runs.times).toEqual(["2026-11-16T03:00"]);
  });

  it("ahead for a moment loses no due time of the hours in between and repeats none", async () => {
    lab.config = { schedules: { nightly: { cron: "0 * * * *" } } };
    await lab.begin();
    lab.world.set("2026-11-16T07:00:00Z");
    await lab.world.until("2026-11-16T07:00:40Z");
    lab.runs.end();
    lab.world.set("2026-11-16T02:10:00Z");
    for (const hour of ["03", "04", "05", "06", "07", "08"]) {
      await lab.world.until(`2026-11-16T${hour}:05:00Z`);
      lab.runs.end();
    }
    const dues = lab.runs.list.map(({ idempotency }) => idempotency!.key.slice(-13, -8));
    expect(dues).toEqual(["07:00", "03:00", "04:00", "05:00", "06:00", "08:00"]);
  });

  it("to the right time after it was far ahead lets schedules continue", async () => {
    await lab.begin();
    await lab.stop();
    lab.world.set("2031-01-01T03:00:10Z");
    await lab.begin();
    lab.runs.end();
    await lab.stop();
    lab.world.set("2026-11-16T02:00:00Z");
    await lab.begin();
    await lab.world.until("2026-11-16T03:05:00Z");
    expect(lab.runs.times).toEqual(["2031-01-01T03:00", "2026-11-16T03:00"]);
  });
});
