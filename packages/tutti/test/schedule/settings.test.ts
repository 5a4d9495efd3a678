import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readProjectConfig, readUserConfig } from "../../src/config/config.ts";
import { ScheduleFile } from "../../src/schedule/schedule-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-settings-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const RUN = { template: "testing", cwd: "/project", message: "Write the missing tests" };
const write = (config: unknown) => writeFileSync(join(folder, "tutti.config.json"), JSON.stringify(config));
const schedule = (more: object) => ({ schedules: { nightly: { ...RUN, cron: "0 3 * * *", ...more } } });
const trigger = (more: object) => ({ triggers: { push: { ...RUN, ...more } } });

describe("a configuration", () => {
  it("defines schedules and triggers, with safe defaults", () => {
    write({ ...schedule({}), ...trigger({ secretEnv: "PUSH_SECRET" }) });
    const careful = { variables: {}, budget: {}, maxConcurrent: 1, confirm: "ask", enabled: true };
    expect(readUserConfig(folder)).toMatchObject({
      schedules: { nightly: { ...RUN, ...careful, missed: "skip" } },
      triggers: { push: { ...RUN, ...careful, secretEnv: "PUSH_SECRET" } },
    });
  });

  it("resolves scenarios and secret files relative to its own folder", () => {
    write({ ...schedule({ agent: "script:play.json" }), ...trigger({ agent: "mine", secretFile: "secret" }) });
    const { schedules, triggers } = readUserConfig(folder);
    expect(schedules!["nightly"]!.agent).toBe(`script:${join(folder, "play.json")}`);
    expect(triggers!["push"]).toMatchObject({ agent: "mine", secretFile: join(folder, "secret") });
  });

  it.each([
    [schedule({ cron: "0 3 * *" }), "schedules.nightly.cron: must be a cron expression of five fields"],
    [schedule({ cron: "0 25 * * *" }), "schedules.nightly.cron: Invalid value for hour: 25"],
    [schedule({ cron: "0 0 31 2 *" }), "schedules.nightly.cron: never occurs: 0 0 31 2 *. Use a date that exists"],
    [schedule({ timeZone: "Mars/Base" }), "schedules.nightly.timeZone: must be the name of a time zone"],
    [schedule({ cwd: "project" }), "schedules.nightly.cwd: must be an absolute path"],
    [schedule({ message: " " }), "schedules.nightly.message: must not be empty"],
    [schedule({ missed: "all" }), "schedules.nightly.missed: "],
    [schedule({ maxConcurrent: 0 }), "schedules.nightly.maxConcurrent: "],
    [schedule({ budget: { dollars: 1 } }), "unknown setting schedules.nightly.budget.dollars"],
    [schedule({ secretEnv: "X" }), "unknown setting schedules.nightly.secretEnv"],
    [{ schedules: { "a/b": {} } }, "schedules.a/b: must be a name of letters, digits, _, . and -"],
    [trigger({}), "triggers.push: must have either secretEnv or secretFile"],
    [trigger({ secretEnv: "A", secretFile: "b" }), "triggers.push: must have either secretEnv or secretFile"],
    [trigger({ secretEnv: "A=b" }), "triggers.push.secretEnv: must be the name of an environment variable"],
    [trigger({ secretEnv: "A", cron: "0 3 * * *" }), "unknown setting triggers.push.cron"],
  ])("with %j is rejected with the path of the problem", (config, problem) => {
    write(config);
    expect(() => readUserConfig(folder)).toThrow(problem);
  });

  it("of a project cannot define schedules", () => {
    write(schedule({}));
    expect(() => readProjectConfig(folder)).toThrow("unknown setting schedules");
  });
});

describe("the schedule state file", () => {
  it("is read back, is readable by the owner only, and an invalid one is not overwritten", () => {
    const file = join(folder, "schedules.json");
    const entry = { rule: "0 3 * * * UTC", after: 1, lastDue: 1, lastSkipped: { due: 1, at: 2, reason: "x" } };
    // The leftover of a writer that was killed.
    writeFileSync(`${file}.new`, "{ ha");
    const first = new ScheduleFile(file);
    first.set("nightly", entry);
    first.set("gone", entry);
    first.keepOnly(new Set(["nightly"]));
    const next = new ScheduleFile(file);
    expect([next.get("nightly"), next.get("gone"), statSync(file).mode & 0o777]).toEqual([entry, undefined, 0o600]);
    writeFileSync(file, "{}");
    expect(() => new ScheduleFile(file)).toThrow("cannot be read. Correct it or remove it.");
  });
});
