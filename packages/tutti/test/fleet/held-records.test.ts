import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HeldRecords } from "../../src/fleet/held-records.ts";

let folder: string;

beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "tutti-held-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const taken = (key: string) => ({ key, run: "run", session: `session ${key}`, token: `token ${key}` });
const keys = (records: HeldRecords): string[] => records.attempts.map(({ key }) => key);
const file = (): string => join(folder, "held.jsonl");

describe("the records of a host's attempts", () => {
  it("have the attempts that were added and not removed, also after a restart", () => {
    const records = new HeldRecords(folder);
    records.add([taken("a"), taken("b")]);
    records.remove("a");
    records.add([taken("c")]);
    expect(keys(records)).toEqual(["b", "c"]);
    expect(new HeldRecords(folder).attempts).toEqual([taken("b"), taken("c")]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  it("lack only the attempt whose line was cut off", () => {
    new HeldRecords(folder).add([taken("a")]);
    appendFileSync(file(), `\n${JSON.stringify(taken("b")).slice(0, 20)}`);
    const records = new HeldRecords(folder);
    records.add([taken("c")]);
    expect(keys(records)).toEqual(["a", "c"]);
    expect(keys(new HeldRecords(folder))).toEqual(["a", "c"]);
  });

  it.skipIf(!existsSync("/dev/full"))("forget an attempt also on a full disk", () => {
    const records = new HeldRecords(folder);
    records.add([taken("a"), taken("b")]);
    rmSync(file());
    symlinkSync("/dev/full", file());
    expect(() => records.add([taken("c")])).toThrow("ENOSPC");
    records.remove("a");
    expect(keys(records)).toEqual(["b", "c"]);
  });

  it("take over the files of an earlier version", () => {
    mkdirSync(join(folder, "held"));
    writeFileSync(join(folder, "held/one.json"), JSON.stringify(taken("a")));
    writeFileSync(join(folder, "held/two.json"), "");
    expect(keys(new HeldRecords(folder))).toEqual(["a"]);
    expect(existsSync(join(folder, "held"))).toBe(false);
    expect(keys(new HeldRecords(folder))).toEqual(["a"]);
  });

  it("stay small, however many attempts have ended", () => {
    const records = new HeldRecords(folder);
    records.add([taken("kept")]);
    for (let i = 0; i < 2000; i++) {
      records.add([taken(`${i}`)]);
      records.remove(`${i}`);
    }
    expect(readFileSync(file(), "utf8").split("\n").length).toBeLessThan(1100);
    expect(keys(new HeldRecords(folder))).toEqual(["kept"]);
  });
});
