import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadToken } from "../../src/server/access/token.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tutti-token-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (file: string) => statSync(file).mode & 0o777;

describe("the token", () => {
  it("is created at the first start, readable by the owner only, and stays the same", () => {
    const data = join(folder, "not", "there", "yet");
    const token = loadToken(data);
    expect(Buffer.from(token, "base64url")).toHaveLength(32);
    expect(modeOf(join(data, "token"))).toBe(0o600);
    expect(readdirSync(data)).toEqual(["token"]);
    expect(loadToken(data)).toBe(token);
    expect(loadToken(join(folder, "other"))).not.toBe(token);
  });

  it("in a file that others can read gets its permissions restricted", () => {
    const token = loadToken(folder);
    chmodSync(join(folder, "token"), 0o644);
    expect(loadToken(folder)).toBe(token);
    expect(modeOf(join(folder, "token"))).toBe(0o600);
  });

  it("that the user sets is used unchanged and not stored", () => {
    expect(loadToken(folder, "s3cret!")).toBe("s3cret!");
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(["", "with space", "line\nbreak", "ünïcode"])("%j, which a header cannot carry, is rejected", (token) => {
    expect(() => loadToken(folder, token)).toThrow(expect.objectContaining({ code: "usage" }));
  });

  it("is not replaced silently if its file is damaged", () => {
    writeFileSync(join(folder, "token"), "");
    expect(() => loadToken(folder)).toThrow(expect.objectContaining({ code: "storage_failed" }));
    expect(readFileSync(join(folder, "token"), "utf8")).toBe("");
  });

  it("is created despite the leftovers of a killed start", () => {
    writeFileSync(join(folder, `token.${process.pid}.new`), "half");
    const token = loadToken(folder);
    expect([loadToken(folder), readdirSync(folder)]).toEqual([token, ["token"]]);
  });
});
