// What the person's own configuration may say of schedules and triggers.
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
  it("names schedules and triggers; what is left out is careful", () => {
    write({ ...schedule({}), ...trigger({ secretEnv: "PUSH_SECRET" }) });
    const careful = { variables: {}, budget: {}, maxConcurrent: 1, confirm: "ask", enabled: true };
    expect(readUserConfig(folder)).toMatchObject({
      schedules: { nightly: { ...RUN, ...careful, missed: "skip" } },
      triggers: { push: { ...RUN, ...careful, secretEnv: "PUSH_SECRET" } },
    });
  });

  it("names scenarios and files of secrets from where it lies", () => {
    write({ ...schedule({ agent: "script:play.json" }), ...trigger({ agent: "mine", secretFile: "secret" }) });
    const { schedules, triggers } = readUserConfig(folder);
    expect(schedules!["nightly"]!.agent).toBe(`script:${join(folder, "play.json")}`);
    expect(triggers!["push"]).toMatchObject({ agent: "mine", secretFile: join(folder, "secret") });
  });

  it.each([
    [schedule({ cron: "0 3 * *" }), "schedules.nightly.cron: a cron expression of five fields"],
    [schedule({ cron: "0 25 * * *" }), "schedules.nightly.cron: Invalid value for hour: 25"],
    [schedule({ cron: "0 0 31 2 *" }), "schedules.nightly.cron: a moment that comes; this one never does"],
    [schedule({ timeZone: "Mars/Base" }), "schedules.nightly.timeZone: the name of a time zone"],
    [schedule({ cwd: "project" }), "schedules.nightly.cwd: an absolute path"],
    [schedule({ message: " " }), "schedules.nightly.message: some words"],
    [schedule({ missed: "all" }), "schedules.nightly.missed: "],
    [schedule({ maxConcurrent: 0 }), "schedules.nightly.maxConcurrent: "],
    [schedule({ budget: { dollars: 1 } }), "unknown setting schedules.nightly.budget.dollars"],
    [schedule({ secretEnv: "X" }), "unknown setting schedules.nightly.secretEnv"],
    [{ schedules: { "a/b": {} } }, "schedules.a/b: a name of letters, digits, _, . and -"],
    [trigger({}), "triggers.push: either secretEnv or secretFile"],
    [trigger({ secretEnv: "A", secretFile: "b" }), "triggers.push: either secretEnv or secretFile"],
    [trigger({ secretEnv: "A=b" }), "triggers.push.secretEnv: the name of a variable"],
    [trigger({ secretEnv: "A", cron: "0 3 * * *" }), "unknown setting triggers.push.cron"],
  ])("that says %j is refused with the place", (config, problem) => {
    write(config);
    expect(() => readUserConfig(folder)).toThrow(problem);
  });

  it("of a project starts nothing by itself", () => {
    write(schedule({}));
    expect(() => readProjectConfig(folder)).toThrow("unknown setting schedules");
  });
});

describe("what schedules have done", () => {
  it("is read back, only the owner may read it, and a file that says something else is not written over", () => {
    const file = join(folder, "schedules.json");
    const entry = { rule: "0 3 * * * UTC", after: 1, lastDue: 1, lastSkipped: { due: 1, at: 2, reason: "x" } };
    // As one that was killed in the middle leaves it.
    writeFileSync(`${file}.new`, "{ ha");
    const first = new ScheduleFile(file);
    first.set("nightly", entry);
    first.set("gone", entry);
    first.keepOnly(new Set(["nightly"]));
    const next = new ScheduleFile(file);
    expect([next.get("nightly"), next.get("gone"), statSync(file).mode & 0o777]).toEqual([entry, undefined, 0o600]);
    writeFileSync(file, "{}");
    expect(() => new ScheduleFile(file)).toThrow("cannot be read; correct it or remove it");
  });
});
